"""A LANai that executes machine code in RTL, as Python sees it: what it has executed, and why it stopped."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.faults import MESSAGES, Fault, Message
from pymodels.lanai.isa import FP, REGISTERS, SP, names
from pymodels.lanai.ports import CoreError
from pymodels.lanai.program import Place, Program
from pymodels.trace import Part, unit
from tb.sim.doorway import Doorway

COUNTS = 5
"""Numbers for each word of a program: how often it was executed, then the clocks that it waited, by `Stall`."""
LAST = 64
"""Instructions that are kept."""
FIRST, STOP = 0x8000, 0x7FFF
"""Of a word: it is the first of a function; this is where to stop, in place of the number of its places."""
NEVER = -1
"""It stops nowhere."""
ASKED = Message("stopped", "core.stop asks for it")


@dataclass(frozen=True)
class Watched:
    """What is asked of all cores of a run."""

    stop: str = ""
    """The function that they stop in, also where that is inline."""
    every: bool = False
    """Each instruction goes into the trace."""
    inline: bool = False
    """So does each change from one inline function to another."""


class PlaceNumbers:
    """Numbers where instructions stand, so that the trace carries a word and the legend names it."""

    def __init__(self) -> None:
        self.known: dict[tuple[Place, ...], int] = {}
        """A function, and what is inline in it, in the order of their numbers."""

    def number(self, places: tuple[Place, ...]) -> int:
        """The number, a new one at first use."""
        return self.known.setdefault(places, len(self.known))


class RtlCore:
    """The core of one node."""

    def __init__(self, node: int, doorway: Doorway, sram: memoryview, numbers: PlaceNumbers, watched: Watched) -> None:
        self.node = node
        self._unit = unit(node, Part.NIC_CPU)
        self._doorway, self._sram = doorway, sram
        self._numbers, self._watched = numbers, watched
        self.program: Program
        self.counts: NDArray[np.int64]
        """Shape (words, COUNTS)."""

    def use(self, program: Program) -> None:
        """Count what this program does from now on."""
        self.program = program
        asked, words = self._watched, len(program.data) // 4
        depth = None if asked.inline else 1
        told = (program.places(program.base + 4 * word)[:depth] for word in range(words))
        places = np.fromiter((self._numbers.number(one) for one in told), "<u2", words)
        for one in program.functions:
            places[(one.address - program.base) // 4] |= FIRST
        for at in program.within(asked.stop):
            places[(at - program.base) // 4] = STOP
        stop = STOP if asked.stop else NEVER
        at = self._doorway.lib.dw_core_program(self._unit, words, places.tobytes(), stop, asked.every)
        raw = (ctypes.c_int64 * (words * COUNTS)).from_address(at)
        self.counts = np.ctypeslib.as_array(raw).reshape(words, COUNTS)

    def last(self) -> list[int]:
        """The addresses of the last instructions, the oldest first."""
        room = (ctypes.c_uint32 * LAST)()
        return list(room[: self._doorway.lib.dw_core_last(self._unit, room)])

    def registers(self) -> list[int]:
        """The registers where it stopped; 0 to 2, the constants and pc, are 0."""
        at = self._doorway.lib.dw_core_registers(self._unit)
        return list((ctypes.c_uint32 * REGISTERS).from_address(at))

    def stopped(self, time: int, fault: int, address: int) -> None:
        """It has stopped. Raises CoreError, whose text has what it did last."""
        where = self.program.place(address)
        message = MESSAGES[Fault(fault)] if fault else ASKED
        told = "\n  ".join([message.remedy, *self.told(address)])
        cause = f"at {time / 1e6:.3f} us"
        raise CoreError(address, f"{where} on node {self.node}", message.what, cause, told, Fault(fault))

    def told(self, address: int) -> Iterator[str]:
        """Lines that say where it stands: calls, registers, the last instructions."""
        yield "calls: " + " <- ".join(frame for at in self.calls(address) for frame in self._frames(at))
        held = self.registers()
        named = [f"{name} {value:#x}" for name, value in zip(names(), held, strict=True)][3:]
        yield "registers: " + ", ".join(named)
        yield "last instructions:"
        for at in self.last():
            yield f"{at:#07x} {self.program.place(at):24} {disassembled(self._code(at))}"

    def _frames(self, address: int) -> Iterator[str]:
        """The functions that are inline at an address, the innermost first, and the one that they stand in."""
        for one in self.program.inlines(address):
            yield f"{one.name}, inline at {one.file}:{one.line}"
        yield self.program.symbol(address) or f"{address:#x}"

    def calls(self, address: int) -> Iterator[int]:
        """Where it is, and where each call below came from, by the chain of frame pointers."""
        yield address
        held = self.registers()
        if (one := self.program.function(address)) and one.address == address:
            yield self._word(held[SP])  # it has no frame yet
        frame, below = held[FP], 0
        while below < frame <= self.program.stack and not frame % 4:
            yield self._word(frame - 4)
            frame, below = self._word(frame - 8), frame

    def _word(self, address: int) -> int:
        return int.from_bytes(self._sram[address : address + 4], "big")

    def _code(self, address: int) -> int:
        """A word of the program as it was loaded; behind it, what the SRAM has."""
        at = address - self.program.base
        loaded = self.program.data[at : at + 4]
        return int.from_bytes(loaded, "big") if len(loaded) == 4 else self._word(address)
