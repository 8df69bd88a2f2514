"""Message buffers of one process, which the kernel allocates, pins and maps when the process opens the device.

The first page holds the words shared by kernel and process; the message slots follow it. NEXT is the exported variable
of paper 002: the offset of the slot for the next message.
"""

from __future__ import annotations

from collections import deque
from enum import IntEnum

from firmware.ssam.host.errors import SsamError
from firmware.ssam.host.message import SLOT
from firmware.verbs import Host
from pymodels.host.pages import PAGE
from pymodels.host.process import Process

SENDS = 4
"""Number of send slots, used in turn. A slot is free again when the call that sends it returns."""
WORD = 1 << 32


class Word(IntEnum):
    """Offsets of the shared words."""

    NEXT = 0  # written by the kernel: offset of the slot for the next message
    PUT = 4  # written by the kernel: number of messages put into the receive slots
    TAKEN = 8  # written by the process: number of messages taken


class Area:
    """Mapped buffers of one process."""

    def __init__(self, host: Host, process: Process, key: int, receives: int) -> None:
        """Allocate and pin the buffers; `receives` is the number of receive slots."""
        self._host, self.process, self.key, self._receives = host, process, key, receives
        self._bytes = PAGE + SLOT * (SENDS + receives)
        self.va = process.allocate(self._bytes)
        self._frames = process.pin(self.va, self._bytes)
        self._next = self._put = 0
        self.traced: deque[tuple[int, int]] = deque()
        """Trace keys and numbers in the trace of the messages that the process has not taken yet."""
        self._tell_next()

    def close(self) -> None:
        """Unpin and free the memory."""
        self.process.unpin(self.va, self._bytes)
        self.process.free(self.va, self._bytes)

    # ---- kernel: physical addresses

    def _physical(self, offset: int) -> int:
        return self._frames[offset // PAGE] + offset % PAGE

    def _tell_next(self) -> None:
        self._host.store_words(self._physical(Word.NEXT), (PAGE + SLOT * (self._next % SENDS),))

    def outgoing(self, offset: int) -> int:
        """Return the physical address of the message that a process traps with. Raises SsamError for a wrong offset."""
        right = PAGE + SLOT * (self._next % SENDS)
        if offset != right:
            what = f"{self.process.who}: message at offset {offset!r}"
            raise SsamError(what, "the next message is at another offset", f"trap with the value of NEXT, {right}")
        return self._physical(offset)

    def sent(self) -> None:
        """Advance NEXT to the next slot."""
        self._next += 1
        self._tell_next()

    def room(self) -> bool:
        """Return True if a receive slot is free. An invalid value in TAKEN means that none is."""
        (taken,) = self._host.load_words(self._physical(Word.TAKEN), 1)
        return bool((self._put - taken) % WORD < self._receives)

    def incoming(self) -> int:
        """Return the physical address of the slot for the next received message."""
        return self._physical(self._slot(self._put))

    def put(self, trace: int, message: int) -> None:
        """Announce the message in the next receive slot; `trace` is its trace key, `message` its number."""
        self._put += 1
        self.traced.append((trace, message))
        self._host.store_words(self._physical(Word.PUT), (self._put % WORD,))

    def _slot(self, number: int) -> int:
        return PAGE + SLOT * (SENDS + number % self._receives)

    # ---- process: virtual addresses

    def next_slot(self) -> int:
        """Return the offset of the slot for the next message."""
        return self.process.load_words(self.va + Word.NEXT, 1)[0]

    def come(self, taken: int) -> int | None:
        """Return the address of the next message after `taken` messages, or None if there is none."""
        if self.process.load_words(self.va + Word.PUT, 1)[0] == taken % WORD:
            return None
        return self.va + self._slot(taken)

    def through(self, taken: int) -> None:
        """Publish the number of messages taken."""
        self.process.store_words(self.va + Word.TAKEN, (taken % WORD,))
