"""Polled words of host memory. The memory model reports writes to them, so that no simulation time is spent
on polling.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pymodels.kernel import Future, Kernel
from tb.sim.doorway import Doorway

WORD = struct.Struct(">I")
KEPT = 16
"""Maximum number of watch slots kept for words that no loop polls at present."""
Watches = Sequence[tuple[int, int]]
"""Addresses of words and their known values."""
Sees = Callable[[int, int], int]
"""Function of a changed word's index and the time of the write; returns the time (ps) at which the loop sees
the change.
"""


@dataclass(eq=False)
class Waiter:
    """Polling loop that waits for a change of one of its words."""

    woken: Future[int]
    watches: Watches
    sees: Sees


class WatchedWords:
    """Polled words of one host's memory, each with a watch slot of the doorway."""

    compiled = "WatchedWordsMethods"
    """C type of tb/sim/twin/doorway_python.c with the hot methods of the subclass `WatchedWordsC` (`tb.sim.compiled`).
    """

    def __init__(self, who: str, kernel: Kernel, doorway: Doorway, memory: memoryview, memory_number: int) -> None:
        self._who = who
        self._why = f"a word of {who}'s memory to change"
        self._kernel = kernel
        self._doorway = doorway
        self._memory = memory
        self._number = memory_number
        self._armed = doorway.armed(memory_number)
        self._slots: dict[int, int] = {}
        """Slots by watched word, least recently requested first."""
        self.waits: dict[int, list[Waiter]] = {}
        """Waiting loops by slot, in the order in which they began."""

    def written(self, slot: int, time: int) -> None:
        """Wake the loops that wait for the word of a slot, written at `time` (ps). The loop that polls next
        is woken first.
        """
        waiters = self.waits.pop(slot, [])
        if len(waiters) > 1:
            self._sort(waiters, time)
        for waiter in waiters:
            if not waiter.woken.done:
                waiter.woken.set(time)

    def _sort(self, waiters: list[Waiter], time: int) -> None:
        """Sort loops by the times at which they poll the word written at `time`."""
        waiters.sort(key=lambda waiter: waiter.sees(self.first_difference(waiter.watches) or 0, time))

    def stored(self, address: int, size: int) -> None:
        """Handle a store by software, which the memory model does not report."""
        for slot in [slot for word, slot in self._slots.items() if address - 4 < word < address + size]:
            self.written(slot, self._kernel.now)

    def end(self, watches: list[tuple[int, int]]) -> None:
        """End a loop that waits for a change of these words at its next poll, without a change."""
        watches[:] = [(address, ~WORD.unpack_from(self._memory, address)[0]) for address, _ in watches]
        self.stored(watches[0][0], WORD.size)

    def first_difference(self, watches: Watches) -> int | None:
        """Return the index of the first (address, value) whose word has another value now, or None."""
        memory = self._memory
        for i, (address, old) in enumerate(watches):
            if WORD.unpack_from(memory, address)[0] != old:
                return i
        return None

    async def change(self, watches: Watches, sees: Sees) -> tuple[int, int]:
        """Wait until a word differs from its known value; return its index and the time (ps) at which the
        loop sees it.
        """
        while True:
            waiter = Waiter(self._kernel.future(self._why), watches, sees)
            slots = [self._arm(address, waiter) for address, _ in watches]
            written = await waiter.woken
            for slot in slots:
                self._leave(slot, waiter)
            hit = self.first_difference(watches)
            if hit is not None:
                return hit, sees(hit, written)

    def _arm(self, address: int, waiter: Waiter) -> int:
        """Arm the slot of a word for a waiter and return the slot."""
        slot = self._slot(address)
        self.waits.setdefault(slot, []).append(waiter)
        self._armed[slot] = 1
        return slot

    def _leave(self, slot: int, waiter: Waiter) -> None:
        """Remove a waiter from a slot; disarm the slot if it was the last."""
        waiters = self.waits.get(slot, [])
        if waiter in waiters:
            waiters.remove(waiter)
        if not waiters:
            self._armed[slot] = 0
            self.waits.pop(slot, None)

    def _slot(self, address: int) -> int:
        """Return a slot for a word: its own, the slot of a word without waiters, or a new slot."""
        slot = self._slots.pop(address, None)
        if slot is None and len(self._slots) >= KEPT:
            idle = next((word for word, other in self._slots.items() if other not in self.waits), None)
            if idle is not None:
                slot = self._slots.pop(idle)
                self._doorway.move_watch(self._number, slot, address)
        if slot is None:
            slot = self._doorway.watch(self._number, address)
        self._slots[address] = slot
        return slot
