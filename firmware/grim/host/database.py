"""Global handler database, kept on node 0 and accessed by active messages (paper 000, 4.4.1; 003, C.4.1)."""

from __future__ import annotations

from firmware.grim.formats import Device, Reference
from firmware.grim.host.arguments import text
from firmware.grim.host.calls import Calls
from firmware.grim.host.fpga import FpgaCard
from firmware.grim.host.handlers import (
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
from firmware.grim.host.io_card import IoCard
from firmware.grim.host.messages import Messages
from firmware.grim.host.nodes import Nodes
from firmware.verbs import Host


class Database:
    """Calls of table C.3: the client and, on node 0, the server."""

    def __init__(
        self,
        host: Host,
        nodes: Nodes,
        calls: Calls,
        messages: Messages,
        handlers: Handlers,
        card: FpgaCard | IoCard | None,
        *,
        serving: bool = True,
    ) -> None:
        """Create the client or, on node 0, the server.

        Args:
            host: Host of the endpoint.
            nodes: Names of the cluster.
            calls: State of the endpoint's library.
            messages: Messages of the endpoint.
            handlers: Handler tables of the endpoint.
            card: FPGA card of this host, which gets the numbers of its circuits, or None.
            serving: False for a process, which is a client on node 0, too.
        """
        self._host, self._calls, self._messages, self._handlers = host, calls, messages, handlers
        self._card = card
        self._serving = serving and nodes.me == SERVER
        self.served = 0
        """Number of name lists that other nodes and processes have sent to this server."""
        self._lists = 0
        """Number of tables received from the server."""
        self._told: dict[str, int] = {}
        """Received answers to `resolve_handler`: the number of a name, or 0 if it is not registered."""

    def built_in(self) -> dict[int, Handler]:
        """Return the built-in handlers of the database protocol."""
        return {REGISTER: self._register, LIST: self._list, ASK: self._ask, TELL: self._tell}

    def _server(self) -> int:
        return Reference(SERVER, Device.HOST, 0).pack()

    def register_handler(self, function: Handler, name: str) -> None:
        """Register a handler of this host (`grim_register_handler`). Other hosts can use it after `sync_handlers`."""
        self._handlers.register(function, name)

    async def sync_handlers(self) -> None:
        """Publish this host's handlers and get those of others from the server on node 0 (`grim_syncHandlers`).

        The circuits of this host's card are handlers too, and the card gets their numbers.
        """
        await self._calls.begin()
        await self._synchronise()
        if self._card is not None:
            await self._card.learn(self._handlers.numbers)

    async def _synchronise(self) -> None:
        """Send this host's names to the server and wait for the whole table."""
        handlers = self._handlers
        own = [*handlers.local, *(name for name in handlers.elsewhere if name not in handlers.local)]
        if not self._serving:
            self._calls.may_wait("sync_handlers")
        await self._host.spend("sync_name", max(len(own), 1))
        if self._serving:
            handlers.assign(own)
            return
        before = self._lists
        await self._messages.send_internal(self._server(), REGISTER, payload=encode_names(own))
        await self._messages.wait_for(lambda: self._lists > before)

    async def resolve_handler(self, name: str) -> int:
        """Return the number of a handler (`grim_resolveHandler`), requested from the server if it is unknown here.

        Raises GrimError if no node has registered the name.
        """
        await self._calls.begin()
        name, handlers = text("name", name), self._handlers
        await self._host.spend("resolve")
        if name in handlers.numbers:
            return handlers.numbers[name]
        if not self._serving:
            self._calls.may_wait("resolve_handler")
            self._told.pop(name, None)
            await self._messages.send_internal(self._server(), ASK, payload=name.encode())
            await self._messages.wait_for(lambda: name in self._told)
            if self._told[name]:
                handlers.merge({name: self._told[name]})
                return self._told[name]
        raise handlers.unknown(name)

    async def _register(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        handlers = self._handlers
        names = decode_names(payload)
        await self._host.spend("sync_name", max(len(names), 1))
        handlers.assign(names)
        self.served += 1
        await self._messages.send_internal(source, LIST, payload=encode_table(handlers.numbers))

    async def _list(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        table = decode_table(payload)
        await self._host.spend("sync_name", max(len(table), 1))
        self._handlers.merge(table)
        self._lists += 1

    async def _ask(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        name = bytes(payload)
        number = self._handlers.numbers.get(name.decode(), 0)
        await self._host.spend("resolve")
        await self._messages.send_internal(source, TELL, number, payload=name)

    def _tell(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._told[bytes(payload).decode()] = a0
