"""Words of host memory that software polls: the memory model reports writes to them, so that nothing has to poll in
reality.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pymodels.kernel import Future, Kernel
from tb.sim.doorway import Doorway

WORD = struct.Struct(">I")
KEPT = 16
"""Words whose slots wait for them, although nobody polls them now."""
Watches = Sequence[tuple[int, int]]
"""Addresses of words, and the values that they have."""
Sees = Callable[[int, int], int]
"""When (ps) a polling loop sees that the word of an index has changed, from the time of the write on."""


@dataclass(eq=False)
class Waiter:
    """A polling loop that waits for one of its words to change."""

    woken: Future[int]
    watches: Watches
    sees: Sees


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
        self.waits: dict[int, list[Waiter]] = {}
        """The loops that wait, by slot, in the order in which they began."""

    def written(self, slot: int, time: int) -> None:
        """The memory model's event: the word of a slot was written at a time (ps). Of several loops that whose next
        look is the first goes on first.
        """
        waiters = self.waits.pop(slot, [])
        if len(waiters) > 1:
            waiters.sort(key=lambda waiter: waiter.sees(self.first_difference(waiter.watches) or 0, time))
        for waiter in waiters:
            if not waiter.woken.done:
                waiter.woken.set(time)

    def stored(self, address: int, size: int) -> None:
        """Software has stored so many bytes, of which the memory model knows nothing."""
        for slot in [slot for word, slot in self._slots.items() if address - 4 < word < address + size]:
            self.written(slot, self._kernel.now)

    def end(self, watches: list[tuple[int, int]]) -> None:
        """A loop that waits for a change of these words goes on at its next look, whatever stands there."""
        watches[:] = [(address, ~WORD.unpack_from(self._memory, address)[0]) for address, _ in watches]
        self.stored(watches[0][0], WORD.size)

    def first_difference(self, watches: Watches) -> int | None:
        """Index of the first (address, value) whose word has another value now; None when all still agree."""
        memory = self._memory
        for i, (address, old) in enumerate(watches):
            if WORD.unpack_from(memory, address)[0] != old:
                return i
        return None

    async def change(self, watches: Watches, sees: Sees) -> tuple[int, int]:
        """Wait until a word differs from the value given with it: its index, and when the loop sees it (ps)."""
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
        """A write to the word wakes the waiter; the slot that watches."""
        slot = self._slot(address)
        self.waits.setdefault(slot, []).append(waiter)
        self._armed[slot] = 1
        return slot

    def _leave(self, slot: int, waiter: Waiter) -> None:
        """A waiter no longer waits for the word of a slot."""
        waiters = self.waits.get(slot, [])
        if waiter in waiters:
            waiters.remove(waiter)
        if not waiters:
            self._armed[slot] = 0
            self.waits.pop(slot, None)

    def _slot(self, address: int) -> int:
        """The slot of a word: its own, or that of a word that nobody waits for, or a new one."""
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
