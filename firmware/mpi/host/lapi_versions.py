"""How MPI over LAPI learns that a message is whole: the three versions of paper 001, 6.4 (readings C15).

| version | by |
|---|---|
| base | a completion handler, on LAPI's thread, for every message |
| counters | target counters, whose addresses ranks tell each other at start; the handler where there are no data |
| enhanced | a handler that LAPI brings along, and runs in its dispatcher |
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
"""Bytes of the least buffer."""
COUNTERS = 16
"""Target counters of a pair and direction, used in turn."""


class Buffers:
    """Memory of LAPI's process that stands for the application's: a buffer is used again by messages of its size."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._free: dict[int, list[int]] = {}

    def take(self, size: int) -> int:
        """Address of one with so many bytes."""
        room = self._room(size)
        free = self._free.setdefault(room, [])
        return free.pop() if free else int(self._process.allocate(room))

    def word(self) -> int:
        """A word that is 0."""
        address = self.take(WORD)
        self._process.store_bytes(address, bytes(WORD))
        return address

    def give_back(self, address: int, size: int) -> None:
        """It is not needed any more."""
        self._free[self._room(size)].append(address)

    @staticmethod
    def _room(size: int) -> int:
        return max(LEAST, 1 << max(size - 1, 0).bit_length())


@dataclass(frozen=True)
class Mark:
    """What tells that a message is whole."""

    word: int
    counter: bool = False
    """It is a target counter; otherwise a word that is set."""


class Enhanced:
    """Also what the other versions begin with."""

    def __init__(self, lapi: Any, buffers: Buffers) -> None:
        self.lapi, self.buffers = lapi, buffers

    async def start(self, port: Port) -> None:
        """Before the first message."""

    def counter(self, rank: int, number: int, words: Words) -> int:
        """The target counter of a message to a rank; 0: none."""
        return 0

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """A message begins to arrive: what its header handler answers, and what will tell that it is whole."""
        word = self.buffers.word()
        return Place(address, Set(word, 1)), Mark(word)

    def began(self, place: Place) -> None:
        """MPI knows of the message that is to go to a place."""

    def whole(self, mark: Mark) -> bool:
        """Whether it is."""
        return self._value(mark.word) != 0

    def done(self, mark: Mark) -> None:
        """It has been taken."""
        self.buffers.give_back(mark.word, WORD)

    def _value(self, word: int) -> int:
        return int.from_bytes(self.lapi.process.load_bytes(word, WORD), "big", signed=True)


@dataclass(frozen=True)
class Handled:
    """What a completion handler is given."""

    word: int
    """It is set."""
    counter: int = 0
    """That of the message, if it has one."""
    permissions: list[Due] = field(default_factory=list)
    """They are sent."""


class Base(Enhanced):
    """Each message costs the switch to LAPI's thread, and back. There the permission is sent that a request is given
    when it arrives, and the data that were permitted, unless the application waits for them and sends them itself.
    """

    async def start(self, port: Port) -> None:
        """Whom to ask what is to be sent."""
        self._port = port

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """The completion handler sets the word."""
        word = self.buffers.word()
        return Place(address, self._complete, Handled(word)), Mark(word)

    def began(self, place: Place) -> None:
        """What it permits is the completion handler's."""
        if isinstance(place.argument, Handled):
            place.argument.permissions.extend(self._port.permissions())

    async def _complete(self, lapi: Any, handled: Handled) -> None:
        """The completion handler."""
        lapi.process.store_words(handled.word, (1,))
        lapi.hal.changed()
        await self._port.advance(handled.permissions)


class Counters(Base):
    """A message with a counter that another one still needs takes the completion handler as well; so does one without
    data of an application, whose arrival lets this rank go on.
    """

    def __init__(self, lapi: Any, buffers: Buffers) -> None:
        super().__init__(lapi, buffers)
        self._mine = lapi.process.allocate(WORD * COUNTERS * lapi.tasks)
        self._theirs: list[int] = []
        self._busy = set[int]()
        self._handled = Counter[int]()
        """By counter: how often it rises, or has risen, for messages with a completion handler."""

    async def start(self, port: Port) -> None:
        """Where the counters of all ranks stand."""
        await super().start(port)
        self._theirs = await self.lapi.Address_init(self._mine)

    def counter(self, rank: int, number: int, words: Words) -> int:
        """The next one in turn."""
        return self._place(self._theirs[rank], self.lapi.me, number) if self._counts(words) else 0

    def begin(self, source: int, number: int, words: Words, address: int) -> tuple[Place, Mark]:
        """Its counter rises."""
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
        """A counter has risen once more than it has for others."""
        return self._value(mark.word) > self._handled[mark.word] if mark.counter else super().whole(mark)

    def done(self, mark: Mark) -> None:
        """The counter is free."""
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
