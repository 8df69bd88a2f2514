"""Python view of a LANai core that executes machine code in RTL: execution counts, and the cause of a stop."""

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
"""Counters of each program word: number of executions, then wait clocks by `Stall`."""
FIRST, STOP = 0x8000, 0x7FFF
"""Flag of a word that begins a function, and the value of a word at which the core stops."""
NEVER = -1
"""Stop value of a core without a stop function."""
ASKED = Message("stopped", "core.stop names this function")


@dataclass(frozen=True)
class Watched:
    """Trace and stop options for all cores of a run."""

    stop: str = ""
    """Function at which the cores stop, also where it is inlined; empty: none."""
    every: bool = False
    """True to trace each instruction."""
    inline: bool = False
    """True to trace each transition between inline functions."""


class PlaceNumbers:
    """Numbers of source places: trace records carry numbers, the legend carries names."""

    def __init__(self) -> None:
        self.known: dict[tuple[Place, ...], int] = {}
        """Places (a function and the functions inlined at the instruction) with their numbers."""

    def number(self, places: tuple[Place, ...]) -> int:
        """Return the number of a place; the first call for a place assigns it."""
        return self.known.setdefault(places, len(self.known))


class RtlCore:
    """Core of one node."""

    def __init__(self, node: int, doorway: Doorway, sram: memoryview, numbers: PlaceNumbers, watched: Watched) -> None:
        self.node = node
        self._unit = unit(node, Part.NIC_CPU)
        self._doorway, self._sram = doorway, sram
        self._numbers, self._watched = numbers, watched
        self.program: Program
        self._counts: NDArray[np.int64]

    def use(self, program: Program) -> None:
        """Count the executions of a program from now on."""
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
        """Counters up to now, including gated clocks: a view of shape (words, COUNTS)."""
        self._doorway.lib.dw_cores_whole(self._doorway.now())
        return self._counts

    def last(self) -> list[int]:
        """Return the addresses of the last executed instructions, oldest first."""
        room = (ctypes.c_uint32 * LAST)()
        return list(room[: self._doorway.lib.dw_core_last(self._unit, room)])

    def registers(self) -> list[int]:
        """Return the registers at the stop; registers 0 to 2 (the constants and pc) read 0."""
        at = self._doorway.lib.dw_core_registers(self._unit)
        return list((ctypes.c_uint32 * REGISTERS).from_address(at))

    def stopped(self, time: int, fault: int, address: int) -> None:
        """Raise CoreError for a core that has stopped, with its last instructions."""
        message = MESSAGES[Fault(fault)] if fault else ASKED
        stopped = Stopped(self.program, address, self.registers(), self.last(), self._word)
        raise stopped.error(self.node, message.what, f"at {time / 1e6:.3f} us", message.remedy, Fault(fault))

    def _word(self, address: int) -> int:
        return int.from_bytes(self._sram[address : address + 4], "big")
