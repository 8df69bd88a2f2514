"""Reference model of a LANai processor: one instruction a step, without fetch or contention.

`Core.step` executes one instruction and returns its effects, so that an RTL core can be compared instruction by
instruction. The clock count is that of a core with ideal fetches: one clock for each instruction, plus load stalls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pymodels.lanai.alu import Flags, calculate, counted
from pymodels.lanai.chips import V11, Chip
from pymodels.lanai.decode import Instruction, Kind, decode
from pymodels.lanai.faults import MESSAGES, Fault
from pymodels.lanai.isa import ONES, PC, REGISTERS, WORD, ZERO
from pymodels.lanai.ports import CoreError, Memory, NoRegisters, Registers

Execute = Callable[[Instruction], None]


class Access(NamedTuple):
    """Load or store of SRAM, or of a special register, whose address is its offset."""

    stores: bool
    register: bool
    address: int
    size: int
    value: int
    """Loaded or stored value: `size` bytes, not extended."""


@dataclass(slots=True)
class Step:
    """Effects of one instruction."""

    pc: int
    instruction: Instruction
    writes: tuple[tuple[int, int], ...] = ()
    """Written registers with new values, without the constants and pc, in order. A loaded value is included, even if an
    exposed load delay makes it visible later.
    """
    access: Access | None = None
    target: int | None = None
    """Jump target."""
    waited: int = 0
    """Clocks of waiting for a load."""


class Core:
    """Processor after reset: pc is `start`, everything else is zero.

    `symbol` returns the function of an address, for messages. `addresses` has the addresses of the present instruction
    and of the next two, which are fixed in advance because jumps have shadows.
    """

    def __init__(
        self,
        memory: Memory,
        registers: Registers | None = None,
        chip: Chip = V11,
        start: int = 0,
        symbol: Callable[[int], str] = lambda _: "",
    ) -> None:
        self.memory = memory
        self.special: Registers = registers if registers is not None else NoRegisters()
        self.chip = chip
        self.symbol = symbol
        self.registers = [0] * REGISTERS
        self.registers[ONES] = WORD
        self.flags = Flags()
        self.addresses = (start, start + 4, start + 8)
        self.steps = self.clocks = 0
        self._shadows = 0  # instructions still to be executed in the shadow of a jump
        self._late: list[tuple[int, int, int]] = []  # pending exposed loads: last step that reads the old value
        self._first_special = (WORD << chip.register_bits) & WORD
        self._ready = [0] * REGISTERS  # clock from which each register is available
        self._loaded = 0  # clock from which all registers are available
        self._decoded: dict[int, tuple[Instruction, Execute]] = {}
        self._target: int | None = None
        self._target_shadows = 0
        self._access: Access | None = None
        self._written: list[tuple[int, int]] = []
        self._execute: dict[Kind, Execute] = {
            Kind.ALU: self._alu,
            Kind.SELECT: self._select,
            Kind.COUNT: self._count,
            Kind.CONSTANT: self._constant,
            Kind.SET: self._set,
            Kind.BRANCH: self._branch,
            Kind.RELATIVE: self._relative,
            Kind.LOAD: self._load,
            Kind.STORE: self._store,
        }

    def step(self) -> Step:
        """Execute one instruction. Raises CoreError for an undefined action."""
        pc = self.registers[PC] = self.addresses[0]
        one, execute = self._fetch(pc)
        waited = self._wait(one) if self._loaded > self.clocks else 0
        self._target, self._access, self._written = None, None, []
        execute(one)
        self._advance()
        if self._late:
            self._arrive()
        self.steps += 1
        self.clocks += 1
        return Step(pc, one, tuple(self._written), self._access, self._target, waited)

    def run(self, stop: int, limit: int = 10_000_000) -> None:
        """Execute instructions until the next one is at `stop`. Raises CoreError after `limit` more instructions."""
        end = self.steps + limit
        while self.addresses[0] != stop:
            if self.steps >= end:
                raise self._error("still runs", f"{limit} instructions did not lead to {stop:#x}", "raise the limit")
            self.step()

    def _error(self, what: str, cause: str, remedy: str, fault: Fault = Fault.NONE) -> CoreError:
        return CoreError(self.addresses[0], self.symbol(self.addresses[0]), what, cause, remedy, fault)

    def _wrong(self, fault: Fault, cause: str) -> CoreError:
        message = MESSAGES[fault]
        return self._error(message.what, cause, message.remedy, fault)

    # --- instructions ---------------------------------------------------------------------------------------------

    def _fetch(self, pc: int) -> tuple[Instruction, Execute]:
        """Return the instruction at an address and its executing function; decode each word once."""
        if pc + 4 > self.memory.size:
            what = f"the SRAM ends at {self.memory.size:#x}"
            raise self._wrong(Fault.FETCH, what)
        word = self.memory.load(pc, 4)
        if (known := self._decoded.get(word)) is None:
            if (one := decode(word)) is None:
                raise self._wrong(Fault.ILLEGAL, f"{word:#010x} is not an instruction")
            if why := self.chip.refuses(one):
                raise self._error(f"instruction {word:#010x}", f"the {self.chip.name} {why}", "compile for this chip")
            known = self._decoded[word] = one, self._execute[one.kind]
        return known

    def _wait(self, one: Instruction) -> int:
        """Wait for pending loads of registers that the instruction uses."""
        ready, until = self._ready, 0
        for number in one.uses:
            until = max(until, ready[number])
        waited = max(until - self.clocks, 0)
        self.clocks += waited
        return waited

    def _advance(self) -> None:
        """Advance to the next instruction: first the shadows of a jump, then its target."""
        _, first, second = self.addresses
        target = self._target
        if target is None:
            self._shadows -= self._shadows > 0
            self.addresses = first, second, second + 4
            return
        if self._shadows:
            raise self._wrong(Fault.SHADOW, "the jump before it is still under way")
        if target & 3:
            raise self._wrong(Fault.JUMP, f"to {target:#x}")
        self._shadows = self._target_shadows
        self.addresses = (first, target, target + 4) if self._shadows == 1 else (first, second, target)

    def _arrive(self) -> None:
        """Write the values of exposed loads after the last instruction that reads the old value."""
        for step, number, value in self._late:
            if step == self.steps:
                self.registers[number] = value
        self._late = [one for one in self._late if one[0] > self.steps]

    def _write(self, number: int, value: int, shadows: int) -> None:
        """Write a result. A write to pc is a jump."""
        if number == PC:
            self._target, self._target_shadows = value, shadows
        elif number not in (ZERO, ONES):
            self.registers[number] = value
            self._written.append((number, value))
            if self._late:  # the value of an earlier load is dropped (assumed)
                self._late = [late for late in self._late if late[1] != number]

    def _second(self, one: Instruction) -> int:
        return one.constant if one.rs2 is None else self.registers[one.rs2]

    def _alu(self, one: Instruction) -> None:
        flags = self.flags
        if one.condition and not flags.holds(one.condition):
            return
        value, carry, overflow = calculate(one.op, self.registers[one.rs1], self._second(one), flags.c, one.arithmetic)
        if one.sets_flags:
            flags.z, flags.n, flags.v, flags.c = int(value == 0), value >> 31, overflow, carry
        self._write(one.rd, value, self.chip.indirect_shadows)

    def _select(self, one: Instruction) -> None:
        chosen = self.registers[one.rs1] if self.flags.holds(one.condition) else self._second(one)
        self._write(one.rd, chosen, self.chip.indirect_shadows)

    def _count(self, one: Instruction) -> None:
        self._write(one.rd, counted(one.count, self.registers[one.rs1]), self.chip.indirect_shadows)

    def _constant(self, one: Instruction) -> None:
        self._write(one.rd, one.constant, self.chip.indirect_shadows)

    def _set(self, one: Instruction) -> None:
        self._write(one.rd, int(self.flags.holds(one.condition)), self.chip.indirect_shadows)

    def _branch(self, one: Instruction) -> None:
        if self.flags.holds(one.condition):
            self._target, self._target_shadows = one.constant, 1

    def _relative(self, one: Instruction) -> None:
        if self.flags.holds(one.condition):
            base = self.registers[one.rs1 or PC]
            self._target, self._target_shadows = base + one.constant & WORD, 1

    # --- memory ---------------------------------------------------------------------------------------------------

    def _address(self, one: Instruction) -> int:
        """Return the address of an access; update `rs1` if the instruction requires it."""
        first = self.registers[one.rs1]
        if not one.before and not one.back:
            return first
        moved = calculate(one.op, first, self._second(one), self.flags.c, one.arithmetic).value
        if one.back:
            self._write(one.rs1, moved, self.chip.indirect_shadows)
        return moved if one.before else first

    def _reach(self, address: int, size: int) -> bool:
        """Return True for the address of a special register. Raises CoreError for an invalid address."""
        if address & size - 1:
            raise self._wrong(Fault.UNALIGNED, f"{size} bytes at {address:#x}")
        if address >= self._first_special:
            if size != 4:
                raise self._wrong(Fault.PART, f"{size} bytes at {address:#x}")
            return True
        if address + size > self.memory.size:
            raise self._wrong(Fault.BEYOND, f"address {address:#x}, the SRAM ends at {self.memory.size:#x}")
        return False

    def _load(self, one: Instruction) -> None:
        address, size = self._address(one), one.size
        if register := self._reach(address, size):
            address -= self._first_special
            value = self.special.read(address)
        else:
            value = self.memory.load(address, size)
        self._access = Access(False, register, address, size, value)
        if size < 4 and not one.zero_extends and value >> 8 * size - 1:
            value |= WORD & WORD << 8 * size
        self._bring(one.rd, value)

    def _bring(self, number: int, value: int) -> None:
        """Write a loaded value to its register: at once if loads are interlocked, else after the load delay."""
        if number in (ZERO, ONES, PC):
            self._write(number, value, self.chip.load_shadows)
        elif self.chip.interlocked:
            self._write(number, value, 0)
            self._ready[number] = self._loaded = self.clocks + 1 + self.chip.load_delay
        else:
            self._written.append((number, value))
            self._late.append((self.steps + self.chip.load_delay, number, value))

    def _store(self, one: Instruction) -> None:
        value = self.registers[one.rd]  # before `rs1` is modified (assumed if both are the same register)
        address, size = self._address(one), one.size
        value &= (1 << 8 * size) - 1
        if register := self._reach(address, size):
            address -= self._first_special
            self.special.write(address, value)
        else:
            self.memory.store(address, value, size)
        self._access = Access(True, register, address, size, value)
