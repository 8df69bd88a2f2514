"""A LANai that executes machine code in RTL, as Python sees it: what it has executed, and why it stopped."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.lanai.faults import MESSAGES, Fault, Message
from pymodels.lanai.isa import REGISTERS
from pymodels.lanai.program import Place, Program
from pymodels.lanai.stopped import LAST, Stopped
from pymodels.trace import Part, unit
from tb.sim.doorway import Doorway

COUNTS = 5
"""Numbers for each word of a program: how often it was executed, then the clocks that it waited, by `Stall`."""
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
        self._counts: NDArray[np.int64]

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
        self._counts = np.ctypeslib.as_array(raw).reshape(words, COUNTS)

    @property
    def counts(self) -> NDArray[np.int64]:
        """What it has done until now, also while its clock slept; shape (words, COUNTS), a view."""
        self._doorway.lib.dw_cores_whole(self._doorway.now())
        return self._counts

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
        message = MESSAGES[Fault(fault)] if fault else ASKED
        stopped = Stopped(self.program, address, self.registers(), self.last(), self._word)
        raise stopped.error(self.node, message.what, f"at {time / 1e6:.3f} us", message.remedy, Fault(fault))

    def _word(self, address: int) -> int:
        return int.from_bytes(self._sram[address : address + 4], "big")
