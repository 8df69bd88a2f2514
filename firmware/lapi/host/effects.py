"""Effects of completely received messages: counters, replies, changed words, collective calls."""

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
    """Message effects of one task."""

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
        """Number of outstanding replies to this task."""
        self.notes: dict[tuple[int, int], tuple[int, int]] = {}
        """Kind and value of collective-call messages, by source and number."""

    def raise_counter(self, counter: int) -> None:
        """Increment a counter of this task."""
        try:
            self._memory.put(counter, self._memory.word(counter) + 1)
        except ProtectionFault as fault:
            self._fail(f"counter 0x{counter:x}", fault.args[3], "give the address of a counter of that task")

    async def whole(self, source: int, header: Header, place: Place, user: bytes) -> None:
        """Apply the effects of a complete message."""
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
        """Increment the target counter and notify the sender, when the data and their handler are complete."""
        if header.counter:
            self.raise_counter(header.counter)
        if header.completion:
            self._outgoing.give(source, Message(Header(Kind.DONE, counter=header.completion)))
            await self._outgoing.advance()

    async def _set(self, source: int, completion: Set) -> None:
        """Store a word in place of a completion handler."""
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
            self._fail(f"word at 0x{address:x}", fault.args[3], "give a word of that task")

    def _answered(self, header: Header) -> None:
        """Apply a reply to this task."""
        if header.kind in (Kind.DATA, Kind.PREVIOUS):
            self.asked -= 1
        if header.kind == Kind.SET or (header.kind == Kind.PREVIOUS and header.address):
            self._store(header.address, header.first)
        if header.counter:
            self.raise_counter(header.counter)

    def _serve(self, source: int, header: Header) -> None:
        """Send the data requested by another task's `Get`."""
        try:
            self._memory.check(header.address, header.second, write=False)
        except ProtectionFault as fault:
            self._fail(f"tgt_addr 0x{header.address:x} of task {source}", fault.args[3], "give memory of this task")
            return
        answer = Header(Kind.DATA, size=header.second, address=header.first, counter=header.completion)
        self._outgoing.give(source, Message(answer, data=header.address, origin=header.counter))

    async def _change(self, source: int, header: Header, user: bytes) -> None:
        """Change a word for another task's `Rmw`, atomically, and send its old value."""
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
    """Return the new value of a word."""
    if operation is Rmw.FETCH_AND_ADD:
        return old + value
    if operation is Rmw.FETCH_AND_OR:
        return old | value
    if operation is Rmw.SWAP:
        return value
    return other if old & MASK == value else old
