"""Detection of complete messages by MPI over LAPI: the three versions of paper 001, 6.4 (readings C15).

| version | mechanism |
|---|---|
| base | a completion handler on LAPI's thread for every message |
| counters | target counters with addresses exchanged at the start; the completion handler for messages without data |
| enhanced | LAPI's built-in completion handler, which runs in its dispatcher |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from firmware.lapi.host import Place, Set
from firmware.mpi.host.envelope import Kind, known, parts
from firmware.mpi.host.transport import Due, Port, Words

WORD = 4
LEAST = 4096
"""Size of the smallest buffer in bytes."""
COUNTERS = 16
"""Target counters of a pair and direction, used in turn."""


class Buffers:
    """Buffers in LAPI's process that stand for the application's, reused by messages of the same size class."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._free: dict[int, list[int]] = {}

    def take(self, size: int) -> int:
        """Return the address of a buffer of at least `size` bytes."""
        room = self._room(size)
        free = self._free.setdefault(room, [])
        return free.pop() if free else int(self._process.allocate(room))

    def word(self) -> int:
        """Return the address of a word with value 0."""
        address = self.take(WORD)
        self._process.store_bytes(address, bytes(WORD))
        return address

    def give_back(self, address: int, size: int) -> None:
        """Release a buffer."""
        self._free[self._room(size)].append(address)

    @staticmethod
    def _room(size: int) -> int:
        return max(LEAST, 1 << max(size - 1, 0).bit_length())


@dataclass(frozen=True)
class Mark:
    """Word that indicates a complete message."""

    word: int
    counter: bool = False
    """True for a target counter, False for a word that is set."""


class Enhanced:
    """Version `enhanced`, and base class of the other versions."""

    def __init__(self, lapi: Any, buffers: Buffers) -> None:
        self.lapi, self.buffers = lapi, buffers

    async def start(self, port: Port) -> None:
        """Prepare for the first message."""

    def counter(self, rank: int, number: int, words: Words) -> int:
        """Return the target counter of a message to a rank, or 0."""
        return 0

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """Return the header handler's result for a new message, and the mark of its completion."""
        word = self.buffers.word()
        return Place(address, Set(word, 1)), Mark(word)

    def began(self, place: Place) -> None:
        """Note that MPI has processed the header of the message for a place."""

    def whole(self, mark: Mark) -> bool:
        """Return True if the message is complete."""
        return self._value(mark.word) != 0

    def done(self, mark: Mark) -> None:
        """Release the mark of a message that has been processed."""
        self.buffers.give_back(mark.word, WORD)

    def _value(self, word: int) -> int:
        return int.from_bytes(self.lapi.process.load_bytes(word, WORD), "big", signed=True)


@dataclass(frozen=True)
class Handled:
    """Argument of a completion handler."""

    word: int
    """Word to set."""
    counter: int = 0
    """Target counter of the message, or 0."""
    permissions: list[Due] = field(default_factory=list)
    """Permissions to send."""


class Base(Enhanced):
    """Version `base`: each message costs a switch to LAPI's thread and back.

    The thread sends the permission for an arrived request. It also sends permitted data, unless the application waits
    for them and sends them itself.
    """

    async def start(self, port: Port) -> None:
        """Store the port that provides the messages to send."""
        self._port = port

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """Return a place whose completion handler sets the mark's word."""
        word = self.buffers.word()
        return Place(address, self._complete, Handled(word)), Mark(word)

    def began(self, place: Place) -> None:
        """Pass the message's permissions to its completion handler."""
        if isinstance(place.argument, Handled):
            place.argument.permissions.extend(self._port.permissions())

    async def _complete(self, lapi: Any, handled: Handled) -> None:
        """Set the word and send what is due (completion handler)."""
        lapi.process.store_words(handled.word, (1,))
        lapi.hal.changed()
        await self._port.advance(handled.permissions)


class Counters(Base):
    """Version `counters`: target counters, with a completion handler where a counter is still in use.

    A message without data of an application takes the completion handler as well, since its arrival lets this rank
    continue.
    """

    def __init__(self, lapi: Any, buffers: Buffers) -> None:
        super().__init__(lapi, buffers)
        self._mine = lapi.process.allocate(WORD * COUNTERS * lapi.tasks)
        self._theirs: list[int] = []
        self._busy = set[int]()
        self._handled = Counter[int]()
        """Number of increments by messages with a completion handler, by counter."""

    async def start(self, port: Port) -> None:
        """Exchange the addresses of all counters."""
        await super().start(port)
        self._theirs = await self.lapi.Address_init(self._mine)

    def counter(self, rank: int, number: int, words: Words) -> int:
        """Return the next counter in turn."""
        return self._place(self._theirs[rank], self.lapi.me, number) if self._counts(words) else 0

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """Return a place whose counter is incremented, or one with a completion handler."""
        counter = self._place(self._mine, source, number)
        if not self._counts(words):
            return super().begin(source, number, words, address)
        if counter not in self._busy:
            self._busy.add(counter)
            return Place(address), Mark(counter, counter=True)
        word = self.buffers.word()
        return Place(address, self._complete_counted, Handled(word, counter)), Mark(word)

    async def _complete_counted(self, lapi: Any, handled: Handled) -> None:
        self._handled[handled.counter] += 1  # it rises when this returns
        await self._complete(lapi, handled)

    def whole(self, mark: Mark) -> bool:
        """Return True if the counter was incremented beyond the increments of other messages."""
        return self._value(mark.word) > self._handled[mark.word] if mark.counter else super().whole(mark)

    def done(self, mark: Mark) -> None:
        """Release the counter."""
        if not mark.counter:
            super().done(mark)
            return
        self.lapi.process.store_words(mark.word, (self._value(mark.word) - 1 & 0xFFFFFFFF,))
        self._busy.discard(mark.word)

    @staticmethod
    def _counts(words: Words) -> bool:
        return known(words) and parts(words)[0] in (Kind.EAGER, Kind.DATA)

    @staticmethod
    def _place(base: int, rank: int, number: int) -> int:
        return base + WORD * (COUNTERS * rank + number % COUNTERS)


VERSIONS: Mapping[str, type[Enhanced]] = MappingProxyType({"enhanced": Enhanced, "counters": Counters, "base": Base})
