"""Processes of a host as endpoints with a logical channel of their own (paper 000, 4.3; CHANNEL lines).

A process has its own handlers, its own polls and its own errors. It shares the host's NI, its pinned memory and the
handler numbers of the cluster. Messages between a process and another endpoint of the same host pass through the NI and
the switch, like those for the host's card.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.host.calls import Calls
from firmware.grim.host.card_calls import CardErrors
from firmware.grim.host.database import Database
from firmware.grim.host.driver import Driver
from firmware.grim.host.handlers import Handler, Handlers
from firmware.grim.host.memory import PinnedMemory
from firmware.grim.host.memory_calls import RemoteMemory
from firmware.grim.host.messages import Messages
from firmware.grim.host.messenger import Messenger
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.segments import Payload
from firmware.grim.host.tree_calls import Multicast
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Buffer, Host


class Process:
    """Endpoint of one process. Invalid arguments and calls before the host's `grim_enable` raise GrimError."""

    def __init__(
        self,
        name: str,
        host: Host,
        options: Options,
        layout: Layout,
        nodes: Nodes,
        memory: tuple[PinnedMemory, Driver],
        trees: Multicast,
    ) -> None:
        """Create the endpoint.

        Args:
            name: Name of the process in its CHANNEL line.
            host: Host that runs the process.
            options: GRIM's options.
            layout: Sizes of queues.
            nodes: Names and channels of the cluster.
            memory: Pinned memory of the host, and its driver.
            trees: Multicast trees of the host.
        """
        self.name = name
        self.channel = nodes.process(nodes.me, name).channel
        self._host, self._options, self._layout, self._nodes, self._trees = host, options, layout, nodes, trees
        self.calls = Calls()
        self.handlers = Handlers()
        self.messages = Messages(host, options, layout, nodes, self.calls, self.handlers, name)
        self.database = Database(host, nodes, self.calls, self.messages, self.handlers, None, serving=False)
        self.memory = RemoteMemory(host, options, self.calls, self.messages, *memory)

    def link(self, buffer: Buffer) -> Messenger:
        """Return the messenger of the process, given its incoming queue (phase 6 of `grim_enable`)."""
        for part in (self.database, self.messages, CardErrors(self._nodes, self.calls, self.handlers)):
            self.handlers.functions.update(part.built_in())
        own = {self.channel: buffer}
        given = self._host, self._layout, self._options, own, self.handlers, self.messages.absent, self.calls.errors
        return Messenger(*given)

    @property
    def reference(self) -> int:
        """Reference of this endpoint, for other endpoints."""
        return Reference(self._nodes.me, Device.HOST, self.channel).pack()

    def register_handler(self, function: Handler, name: str) -> None:
        """Register a handler of this process. Other endpoints can use it after `sync_handlers`."""
        self.database.register_handler(function, name)

    async def sync_handlers(self) -> None:
        """Publish the handlers of this process and learn those of others from the server on node 0, which must poll."""
        await self.database.sync_handlers()

    async def resolve_handler(self, name: str) -> int:
        """Return the number of a handler, requested from the server if it is unknown here."""
        return await self.database.resolve_handler(name)

    def send(
        self,
        destination: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
    ) -> Coroutine[Any, Any, None]:
        """Run a handler at an endpoint; the arguments are those of `Grim.send`, on the channel of this process."""
        return self.messages.send(destination, handler, a0, a1, a2, a3, payload, channel=self.channel)

    async def send_mc(
        self, tree: int, handler: int, a0: int = 0, a1: int = 0, a2: int = 0, a3: int = 0, payload: Payload = b""
    ) -> None:
        """Run a handler at every endpoint that has subscribed to a tree that the host has found (`Grim.send_mc`)."""
        messenger = self.calls.ready()
        target = self._trees.target(tree, self.channel, self.name)
        self.handlers.check(handler)
        words = self.messages.words((a0, a1, a2, a3))
        await self.messages.send_message(messenger, target, handler, words, payload)

    def poll(self) -> Coroutine[Any, Any, int]:
        """Process the received messages of this process, and return the number of handlers that ran."""
        return self.messages.poll()

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Poll until a condition holds, without simulated idle rounds."""
        await self.messages.wait_for(condition)

    async def send_memory(
        self, destination: int, target: int, source: int, size: int, *, lock: int = 0, value: int = 0
    ) -> None:
        """Write pinned memory to another endpoint's host; the arguments are those of `Grim.send_memory`."""
        await self.memory.send_memory(destination, target, source, size, lock=lock, value=value, channel=self.channel)

    async def fetch_memory(self, destination: int, target: int, source: int, size: int, *, lock: int = 0) -> None:
        """Read memory of another endpoint's host; the arguments are those of `Grim.fetch_memory`."""
        await self.memory.fetch_memory(destination, target, source, size, lock=lock, channel=self.channel)

    async def wait_for_lock(self, lock: int, value: int) -> None:
        """Poll until a lock has a value."""
        await self.memory.wait_for_lock(lock, value)
