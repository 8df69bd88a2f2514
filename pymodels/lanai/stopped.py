"""Where a processor stopped, for messages: its calls, its registers, and the instructions that it executed last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.faults import Fault
from pymodels.lanai.isa import FP, PC, SP, names
from pymodels.lanai.ports import CoreError
from pymodels.lanai.program import Program

LAST = 64
"""Instructions that are kept."""


@dataclass(frozen=True)
class Stopped:
    """A processor that executes nothing more."""

    program: Program
    address: int
    """The instruction that it stopped at."""
    registers: Sequence[int]
    """By number; those of the constants and of pc do not matter."""
    last: Sequence[int]
    """The addresses of the last instructions, the oldest first."""
    word: Callable[[int], int]
    """What its SRAM has at an address."""

    def error(self, node: int, what: str, cause: str, remedy: str, fault: Fault) -> CoreError:
        """The end of a run by it, with all that is known of it."""
        where = f"{self.program.place(self.address)} on node {node}"
        return CoreError(self.address, where, what, cause, "\n  ".join([remedy, *self.lines()]), fault)

    def lines(self) -> Iterator[str]:
        """What is known of it, line by line."""
        yield "calls: " + " <- ".join(frame for at in self._calls() for frame in self._frames(at))
        named = [f"{name} {value:#x}" for name, value in zip(names(), self.registers, strict=True)][PC + 1 :]
        yield "registers: " + ", ".join(named)
        yield "last instructions:"
        for at in self.last:
            yield f"{at:#07x} {self.program.place(at):24} {disassembled(self._code(at))}"

    def _frames(self, address: int) -> Iterator[str]:
        """The functions that are inline at an address, the innermost first, and the one that they stand in."""
        for one in self.program.inlines(address):
            yield f"{one.name}, inline at {one.file}:{one.line}"
        yield self.program.symbol(address) or f"{address:#x}"

    def _calls(self) -> Iterator[int]:
        """Where it is, and where each call below came from, by the chain of frame pointers."""
        yield self.address
        frame, below = self.registers[FP], 0
        if (one := self.program.function(self.address)) and one.address == self.address:
            yield self.word(self.registers[SP])  # it has no frame yet
            below = self.registers[SP] + 4
        while below < frame <= self.program.stack and not frame % 4:
            yield self.word(frame - 4)
            frame, below = self.word(frame - 8), frame

    def _code(self, address: int) -> int:
        """A word of the program as it was loaded; behind it, what the SRAM has."""
        at = address - self.program.base
        loaded = self.program.data[at : at + 4]
        return int.from_bytes(loaded, "big") if len(loaded) == 4 else self.word(address)
