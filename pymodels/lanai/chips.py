"""Processors with the LANai instruction set: unsupported instructions, jump shadows, load delays and registers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pymodels.lanai.decode import Instruction, Kind
from pymodels.lanai.isa import PC, PS, Condition, Op


@dataclass(frozen=True)
class Chip:
    """Processor with the LANai instruction set."""

    name: str
    register_bits: int
    """Size of the special-register area: the last 2**register_bits bytes of the address space."""
    load_delay: int
    """Number of instructions after a load before its value is available."""
    interlocked: bool
    """True if an instruction waits for a pending load; False if it reads the register's old value."""
    indirect_shadows: int
    """Number of instructions still executed after a result is written to pc; after a branch it is one."""
    load_shadows: int
    """Number of instructions still executed after a load of pc; 0 if such a load is forbidden."""
    additions: bool
    """True for a processor with v11's additions: select, conditional RR instructions, bit counts."""
    lacks: frozenset[str] = frozenset()
    """Unsupported instruction formats, besides those additions."""
    word_bytes: int = 8
    """Bytes of an SRAM word."""
    registers: int = 32
    """Number of ordinary registers; those from this number on have another meaning."""
    status: bool = False
    """True if r3 contains the flags."""
    subb_flags: bool = True
    """True if `subb.f` sets Z correctly."""

    def refuses(self, one: Instruction) -> str:
        """Return the reason why this chip cannot execute an instruction; empty if it can."""
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
"""Target of clang, with the special registers of the LANai 9."""
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
"""LANai 4 without its contexts: a program stays in one."""
CHIPS = (V11, LANAI9, LANAI4)


def for_clang(chip: Chip) -> Chip:
    """Return a chip that executes clang's output, with the special registers and the load delay of `chip`.

    Its loads are interlocked, which clang relies on.
    """
    name = f"{chip.name} with v11's instructions"
    return replace(V11, name=name, register_bits=chip.register_bits, load_delay=chip.load_delay)
