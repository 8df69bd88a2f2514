"""State of a stopped processor for messages: call stack, registers, and the last executed instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.faults import Fault
from pymodels.lanai.isa import FP, PC, SP, names
from pymodels.lanai.ports import CoreError
from pymodels.lanai.program import Program

LAST = 64
"""Number of instructions that are kept."""


@dataclass(frozen=True)
class Stopped:
    """Stopped processor."""

    program: Program
    address: int
    """Address of the instruction at which it stopped."""
    registers: Sequence[int]
    """Register values by number; those of the constants and of pc are ignored."""
    last: Sequence[int]
    """Addresses of the last instructions, oldest first."""
    word: Callable[[int], int]
    """Function that returns the SRAM word at an address."""

    def error(self, node: int, what: str, cause: str, remedy: str, fault: Fault) -> CoreError:
        """Return the error that ends a run, with the state of the processor."""
        where = f"{self.program.place(self.address)} on node {node}"
        return CoreError(self.address, where, what, cause, "\n  ".join([remedy, *self.lines()]), fault)

    def lines(self) -> Iterator[str]:
        """Yield the state of the processor line by line."""
        yield "calls: " + " <- ".join(frame for at in self._calls() for frame in self._frames(at))
        named = [f"{name} {value:#x}" for name, value in zip(names(), self.registers, strict=True)][PC + 1 :]
        yield "registers: " + ", ".join(named)
        yield "last instructions:"
        for at in self.last:
            yield f"{at:#07x} {self.program.place(at):24} {disassembled(self._code(at))}"

    def _frames(self, address: int) -> Iterator[str]:
        """Yield the inlined functions at an address, innermost first, then the function that contains them."""
        for one in self.program.inlines(address):
            yield f"{one.name}, inline at {one.file}:{one.line}"
        yield self.program.symbol(address) or f"{address:#x}"

    def _calls(self) -> Iterator[int]:
        """Yield the present address and the return address of each caller, by the chain of frame pointers."""
        yield self.address
        frame, below = self.registers[FP], 0
        if (one := self.program.function(self.address)) and one.address == self.address:
            yield self.word(self.registers[SP])  # the function has not created its frame yet
            below = self.registers[SP] + 4
        while below < frame <= self.program.stack and not frame % 4:
            yield self.word(frame - 4)
            frame, below = self.word(frame - 8), frame

    def _code(self, address: int) -> int:
        """Return the program word at an address as it was loaded; outside of the program, the word in SRAM."""
        at = address - self.program.base
        loaded = self.program.data[at : at + 4]
        return int.from_bytes(loaded, "big") if len(loaded) == 4 else self.word(address)
