"""The processors that have this instruction set, as data: what they lack, their shadows, loads and registers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pymodels.lanai.decode import Instruction, Kind
from pymodels.lanai.isa import PC, PS, Condition, Op


@dataclass(frozen=True)
class Chip:
    """One processor."""

    name: str
    register_bits: int
    """Its special registers are the last 2**register_bits bytes of the address space."""
    load_delay: int
    """Instructions after a load that do not have its datum yet."""
    interlocked: bool
    """Such an instruction waits; else it reads the register's old value."""
    indirect_shadows: int
    """Instructions that still run after a result is written to pc. A branch has one."""
    load_shadows: int
    """The same after a load of pc; 0: it is forbidden."""
    additions: bool
    """It has v11's additions: select, conditions of RR instructions, counts of bits."""
    lacks: frozenset[str] = frozenset()
    """Formats that it does not have, beside those additions."""
    word_bytes: int = 8
    """Bytes of a word of its SRAM."""
    registers: int = 32
    """Those from here on mean something else."""
    status: bool = False
    """r3 shows the flags."""
    subb_flags: bool = True
    """`subb.f` sets Z as it should."""

    def refuses(self, one: Instruction) -> str:
        """Why this chip cannot execute an instruction; empty: it can."""
        if one.format in self.lacks or (one.kind is Kind.COUNT and not self.additions):
            return f"has no {one.format} instruction"
        if one.format == "RR" and not self.additions and one.kind is Kind.SELECT:
            return "has no select"
        if one.format == "RR" and not self.additions and one.condition is not Condition.T:
            return "has no conditional RR instruction"
        return self._refuses_registers(one)

    def _refuses_registers(self, one: Instruction) -> str:
        used = one.reads | one.writes
        if one.kind is Kind.LOAD and one.rd == PC and not self.load_shadows:
            return "must not load pc"
        if self.status and PS in used:
            return "has its flags in r3, which is not modelled"
        if max(used, default=0) >= self.registers:
            return f"has other registers from r{self.registers} on, which are not modelled"
        if one.op is Op.SUBB and one.sets_flags and not self.subb_flags:
            return "leaves a wrong Z after subb.f"
        return ""


V11 = Chip("clang's v11", 9, 1, True, 1, 2, additions=True)
"""What clang compiles for. Registers as on the LANai 9."""
LANAI9 = Chip("LANai 9", 9, 2, True, 2, 2, additions=False)
LANAI4 = Chip(
    "LANai 4",
    8,
    1,
    False,
    2,
    0,
    additions=False,
    lacks=frozenset({"SCC"}),
    word_bytes=4,
    registers=28,
    status=True,
    subb_flags=False,
)
"""Without its contexts: a program stays in one."""
CHIPS = (V11, LANAI9, LANAI4)


def for_clang(chip: Chip) -> Chip:
    """A chip that runs what clang compiles, with the special registers where `chip` has them. Its loads take as long,
    and wait: clang relies on that.
    """
    name = f"{chip.name} with v11's instructions"
    return replace(V11, name=name, register_bits=chip.register_bits, load_delay=chip.load_delay)
