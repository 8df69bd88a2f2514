"""The global handler database: node 0 keeps it, the others talk to it in active messages (paper 000, 4.4.1; 003,
C.4.1).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.host.grim.handlers import (
    ASK,
    LIST,
    REGISTER,
    SERVER,
    TELL,
    Handler,
    Handlers,
    decode_names,
    decode_table,
    encode_names,
    encode_table,
)
from firmware.verbs import Host
from pymodels.formats.grim import Device, Reference

Tell = Callable[..., Awaitable[None]]
"""Called with destination, built-in handler, arguments, payload."""


class Node(Protocol):
    """The node that the database is part of."""

    host: Host
    handlers: Handlers

    def get_my_vnn(self) -> int:
        """Its number."""

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Poll until a condition holds."""


class Database:
    """The client's and, on node 0, the server's side."""

    def __init__(self, grim: Node, tell: Tell, may_wait: Callable[[str], None]) -> None:
        """`tell` sends to a built-in handler; `may_wait` refuses a call that must not wait now."""
        self._grim, self._tell_it, self._may_wait = grim, tell, may_wait
        self.served = 0
        """Lists of names that other nodes have sent to this server."""
        self._lists = 0
        """Answers to `synchronise` that have come."""
        self._told: dict[str, int] = {}
        """Answers to `resolve`: number of a name, 0 when nobody has it."""

    def built_in(self) -> dict[int, Handler]:
        """The handlers that every node has for the database."""
        return {REGISTER: self._register, LIST: self._list, ASK: self._ask, TELL: self._tell}

    @property
    def _serving(self) -> bool:
        return self._grim.get_my_vnn() == SERVER

    def _server(self) -> int:
        return Reference(SERVER, Device.HOST, 0).pack()

    async def synchronise(self) -> None:
        """Send the own names to the server and wait for the whole table."""
        grim, handlers = self._grim, self._grim.handlers
        own = [*handlers.local, *(name for name in handlers.elsewhere if name not in handlers.local)]
        if not self._serving:
            self._may_wait("sync_handlers")
        await grim.host.spend("sync_name", max(len(own), 1))
        if self._serving:
            handlers.assign(own)
            return
        before = self._lists
        await self._tell_it(self._server(), REGISTER, payload=encode_names(own))
        await grim.wait_for(lambda: self._lists > before)

    async def resolve(self, name: str) -> int:
        """The number of a name."""
        grim, handlers = self._grim, self._grim.handlers
        await grim.host.spend("resolve")
        if name in handlers.numbers:
            return handlers.numbers[name]
        if not self._serving:
            self._may_wait("resolve_handler")
            self._told.pop(name, None)
            await self._tell_it(self._server(), ASK, payload=name.encode())
            await grim.wait_for(lambda: name in self._told)
            if self._told[name]:
                handlers.merge({name: self._told[name]})
                return self._told[name]
        raise handlers.unknown(name)

    async def _register(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        handlers = self._grim.handlers
        names = decode_names(payload)
        await self._grim.host.spend("sync_name", max(len(names), 1))
        handlers.assign(names)
        self.served += 1
        await self._tell_it(source, LIST, payload=encode_table(handlers.numbers))

    async def _list(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        table = decode_table(payload)
        await self._grim.host.spend("sync_name", max(len(table), 1))
        self._grim.handlers.merge(table)
        self._lists += 1

    async def _ask(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        name = bytes(payload)
        number = self._grim.handlers.numbers.get(name.decode(), 0)
        await self._grim.host.spend("resolve")
        await self._tell_it(source, TELL, number, payload=name)

    def _tell(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._told[bytes(payload).decode()] = a0
