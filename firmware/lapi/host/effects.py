"""What messages bring about when they are whole: counters, answers, words that change, notes of collective calls."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable

from firmware.lapi.host.calls import Rmw
from firmware.lapi.host.handlers import Completion, CompletionThread, Place, Set
from firmware.lapi.host.header import Header, Kind
from firmware.lapi.host.memory import MASK, Memory
from firmware.lapi.host.outgoing import Message, Outgoing
from firmware.verbs import Host
from pymodels.host.faults import ProtectionFault

OPERATION = struct.Struct(">I")
"""User header of a message that changes a word."""


class Effects:
    """Of one task."""

    def __init__(
        self,
        host: Host,
        memory: Memory,
        thread: CompletionThread,
        outgoing: Outgoing,
        fail: Callable[[str, str, str], None],
    ) -> None:
        self._host, self._memory, self._thread, self._outgoing, self._fail = host, memory, thread, outgoing, fail
        self.asked = 0
        """Messages that this task has asked for, and that are not here."""
        self.notes: dict[tuple[int, int], tuple[int, int]] = {}
        """Of collective calls, by source and number: its kind, and a value."""

    def raise_counter(self, counter: int) -> None:
        """One more."""
        try:
            self._memory.put(counter, self._memory.word(counter) + 1)
        except ProtectionFault as fault:
            self._fail(f"counter 0x{counter:x}", fault.args[3], "give the address of a counter of that task")

    async def whole(self, source: int, header: Header, place: Place, user: bytes) -> None:
        """A message is."""
        if place.stored:
            place.stored()
        await self._host.spend("lapi_whole")
        kind = header.kind
        if isinstance(place.completion, Set):
            await self._set(source, place.completion)
            await self._arrived(source, header)
        elif place.completion is not None:
            self._thread.give(Completion(place.completion, place.argument, source, self._then(source, header)))
        elif kind in (Kind.PUT, Kind.AMSEND):
            await self._arrived(source, header)
        elif kind == Kind.GET:
            self._serve(source, header)
        elif kind == Kind.RMW:
            await self._change(source, header, user)
        elif kind == Kind.NOTE:
            self.notes[source, header.address] = (header.completion, header.first)
        else:
            self._answered(header)

    def _then(self, source: int, header: Header) -> Callable[[], Awaitable[None]]:
        return lambda: self._arrived(source, header)

    async def _arrived(self, source: int, header: Header) -> None:
        """Data of a task are here, and their completion handler has run."""
        if header.counter:
            self.raise_counter(header.counter)
        if header.completion:
            self._outgoing.give(source, Message(Header(Kind.DONE, counter=header.completion)))
            await self._outgoing.advance()

    async def _set(self, source: int, completion: Set) -> None:
        """The completion handler that stores a word."""
        await self._host.spend("lapi_set")
        if completion.at_sender:
            header = Header(Kind.SET, address=completion.address, first=completion.value & MASK)
            self._outgoing.give(source, Message(header))
        else:
            self._store(completion.address, completion.value)

    def _store(self, address: int, word: int) -> None:
        try:
            self._memory.put(address, word)
        except ProtectionFault as fault:
            self._fail(f"a word at 0x{address:x}", fault.args[3], "give a word of that task")

    def _answered(self, header: Header) -> None:
        """What this task has asked for."""
        if header.kind in (Kind.DATA, Kind.PREVIOUS):
            self.asked -= 1
        if header.kind == Kind.SET or (header.kind == Kind.PREVIOUS and header.address):
            self._store(header.address, header.first)
        if header.counter:
            self.raise_counter(header.counter)

    def _serve(self, source: int, header: Header) -> None:
        """A task wants data."""
        try:
            self._memory.check(header.address, header.second, write=False)
        except ProtectionFault as fault:
            self._fail(f"tgt_addr 0x{header.address:x} of task {source}", fault.args[3], "give memory of this task")
            return
        answer = Header(Kind.DATA, size=header.second, address=header.first, counter=header.completion)
        self._outgoing.give(source, Message(answer, data=header.address, origin=header.counter))

    async def _change(self, source: int, header: Header, user: bytes) -> None:
        """A task wants a word changed: nothing comes between load and store."""
        await self._host.spend("lapi_change")
        try:
            old = self._memory.word(header.address)
            self._memory.put(header.address, changed(Rmw(*OPERATION.unpack(user)), old, header.first, header.second))
        except ProtectionFault as fault:
            self._fail(f"tgt_var 0x{header.address:x} of task {source}", fault.args[3], "give a word of this task")
            return
        answer = Header(Kind.PREVIOUS, address=header.completion, counter=header.counter, first=old & MASK)
        self._outgoing.give(source, Message(answer))


def changed(operation: Rmw, old: int, value: int, other: int) -> int:
    """What a word becomes."""
    if operation is Rmw.FETCH_AND_ADD:
        return old + value
    if operation is Rmw.FETCH_AND_OR:
        return old | value
    if operation is Rmw.SWAP:
        return value
    return other if old & MASK == value else old
