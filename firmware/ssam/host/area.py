"""The buffers of one process: the kernel allocates, pins and maps them all when the process opens the device.

The first page has the words by which both sides tell each other; behind it stand slots for messages. NEXT is the
exported variable of paper 002: the place of the slot for the next message.
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
"""Slots for messages to be sent, used in turn: a slot is free again when the call that sends it is back."""
WORD = 1 << 32


class Word(IntEnum):
    """Offsets of the words."""

    NEXT = 0  # the kernel: offset of the slot for the next message
    PUT = 4  # the kernel: messages that it has put into the receive slots
    TAKEN = 8  # the process: those that it is through with


class Area:
    """Of one process."""

    def __init__(self, host: Host, process: Process, key: int, receives: int) -> None:
        """`receives`: slots for messages that have come."""
        self._host, self.process, self.key, self._receives = host, process, key, receives
        self._bytes = PAGE + SLOT * (SENDS + receives)
        self.va = process.allocate(self._bytes)
        self._frames = process.pin(self.va, self._bytes)
        self._next = self._put = 0
        self.traced: deque[int] = deque()
        """By what the trace knows the messages that were not taken."""
        self._tell_next()

    def close(self) -> None:
        """Give the memory back."""
        self.process.unpin(self.va, self._bytes)
        self.process.free(self.va, self._bytes)

    # ---- the kernel's side: physical addresses

    def _physical(self, offset: int) -> int:
        return self._frames[offset // PAGE] + offset % PAGE

    def _tell_next(self) -> None:
        self._host.store_words(self._physical(Word.NEXT), (PAGE + SLOT * (self._next % SENDS),))

    def outgoing(self, offset: int) -> int:
        """Where the message that a process has trapped with stands. Raises SsamError for another offset."""
        right = PAGE + SLOT * (self._next % SENDS)
        if offset != right:
            what = f"{self.process.who}: a message at offset {offset!r}"
            raise SsamError(what, "the next message stands elsewhere", f"trap with what NEXT says, {right}")
        return self._physical(offset)

    def sent(self) -> None:
        """The message has gone: NEXT names the next slot."""
        self._next += 1
        self._tell_next()

    def room(self) -> bool:
        """Whether a receive slot is free; a process that writes nonsense into TAKEN has none."""
        (taken,) = self._host.load_words(self._physical(Word.TAKEN), 1)
        return bool((self._put - taken) % WORD < self._receives)

    def incoming(self) -> int:
        """The slot for the next message that has come."""
        return self._physical(self._slot(self._put))

    def put(self, trace: int) -> None:
        """It stands there; `trace`: by what the trace knows it."""
        self._put += 1
        self.traced.append(trace)
        self._host.store_words(self._physical(Word.PUT), (self._put % WORD,))

    def _slot(self, number: int) -> int:
        return PAGE + SLOT * (SENDS + number % self._receives)

    # ---- the process's side: its own addresses

    def next_slot(self) -> int:
        """Offset of the slot for the next message."""
        return self.process.load_words(self.va + Word.NEXT, 1)[0]

    def come(self, taken: int) -> int | None:
        """Where the next message stands, when so many were taken; None: nothing more has come."""
        if self.process.load_words(self.va + Word.PUT, 1)[0] == taken % WORD:
            return None
        return self.va + self._slot(taken)

    def through(self, taken: int) -> None:
        """So many messages were taken."""
        self.process.store_words(self.va + Word.TAKEN, (taken % WORD,))
