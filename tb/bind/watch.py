"""Words of host memory that software polls: the memory model says when one was written, so that nobody has to look."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pymodels.kernel import Future, Kernel
from tb.sim.doorway import Doorway

WORD = struct.Struct(">I")
KEPT = 16
"""Words whose slots wait for them, although nobody polls them now."""


class WatchedWords:
    """The polled words of one host's memory, each with a watch slot of the doorway."""

    def __init__(self, who: str, kernel: Kernel, doorway: Doorway, memory: memoryview, memory_number: int) -> None:
        self._who = who
        self._why = f"a word of {who}'s memory to change"
        self._kernel = kernel
        self._doorway = doorway
        self._memory = memory
        self._number = memory_number
        self._armed = doorway.armed(memory_number)
        self._slots: dict[int, int] = {}
        """Slots by the words that they watch, the one that was wanted longest ago first."""
        self._waits: dict[int, Future[int]] = {}

    def written(self, slot: int, time: int) -> None:
        """The memory model's event: the word of a slot was written at a time (ps)."""
        waiter = self._waits.pop(slot, None)
        if waiter is not None and not waiter.done:
            waiter.set(time)

    def first_difference(self, watches: Sequence[tuple[int, int]]) -> int | None:
        """Index of the first (address, value) whose word has another value now; None when all still agree."""
        memory = self._memory
        for i, (address, old) in enumerate(watches):
            if WORD.unpack_from(memory, address)[0] != old:
                return i
        return None

    async def change(self, watches: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Wait until a word differs from the value given with it: its index, and the time of the write (ps).

        Raises RuntimeError when another task waits for one of the words.
        """
        while True:
            future = self._kernel.future(self._why)
            slots = [self._arm(address, future) for address, _ in watches]
            written = await future
            for slot in slots:
                self._armed[slot] = 0
                self._waits.pop(slot, None)
            hit = self.first_difference(watches)
            if hit is not None:
                return hit, written

    def _arm(self, address: int, future: Future[int]) -> int:
        """A write to the word sets the future; the slot that watches."""
        slot = self._slot(address)
        if slot in self._waits:
            raise RuntimeError(f"{self._who}: two tasks poll the word at {address:#x}")
        self._waits[slot] = future
        self._armed[slot] = 1
        return slot

    def _slot(self, address: int) -> int:
        """The slot of a word: its own, or that of a word that nobody waits for, or a new one."""
        slot = self._slots.pop(address, None)
        if slot is None and len(self._slots) >= KEPT:
            idle = next((word for word, other in self._slots.items() if other not in self._waits), None)
            if idle is not None:
                slot = self._slots.pop(idle)
                self._doorway.move_watch(self._number, slot, address)
        if slot is None:
            slot = self._doorway.watch(self._number, address)
        self._slots[address] = slot
        return slot
