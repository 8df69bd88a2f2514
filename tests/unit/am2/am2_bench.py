"""AM-II on the machine: LANais, and on each host a process whose endpoint can send to those of the other hosts."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.am2.host import Am2, Bundle, Endpoint, Token
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine

Came = tuple[bool, int, tuple[int, ...], bytes]
"""Received message: True for a reply, node of the source, arguments, payload."""
KEEP, ANSWER = 1, 2
"""Handler indices of every endpoint of the bench."""
TAG = 0x1234_5678_9ABC_DEF0


class Bench:
    """Started hosts. Translation n of an endpoint is that of node n. Received messages are kept by node."""

    def __init__(self, nodes: int = 2, nic: str = "lanai9", each: int = 1, **options: Any) -> None:
        """Start hosts with `each` endpoints; further keywords are options of the layer."""
        self.machine = Machine(nodes, nic=nic)
        self.layers: list[Am2] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **options))
            self.machine.nic(node).spawn(nic_program("am2")(self.machine.nic(node), view), "am2")
            self.layers.append(Am2(host, view))
        self.run(*(layer.start() for layer in self.layers))
        self.came: list[list[Came]] = [[] for _ in range(nodes)]
        self.back: list[list[Token]] = [[] for _ in range(nodes)]
        """Returned messages."""
        self.returned_data: list[bytes] = []
        self.libraries = [layer.init() for layer in self.layers]
        self.bundles: list[Bundle] = [library.allocate_bundle() for library in self.libraries]
        self.run(*(self._open(bundle, each) for bundle in self.bundles))
        self.endpoints: list[Endpoint] = [bundle.endpoints[0] for bundle in self.bundles]
        for bundle in self.bundles:
            for endpoint in bundle.endpoints:
                for node, other in enumerate(self.endpoints):
                    endpoint.map(node, other.name, TAG)

    async def _open(self, bundle: Bundle, each: int) -> None:
        for _ in range(each):
            endpoint = await bundle.allocate_endpoint()
            await endpoint.set_tag(TAG)
            endpoint.set_handler(0, self.returned)
            endpoint.set_handler(KEEP, self.keep)
            endpoint.set_handler(ANSWER, self.answer)

    def node(self, token: Token) -> int:
        """Return the node on which a handler runs."""
        return next(n for n, bundle in enumerate(self.bundles) if bundle.process is token.endpoint.process)

    async def keep(self, token: Token) -> None:
        """Keep a received message."""
        self.came[self.node(token)].append((token.is_reply, token.source.node, token.arguments, token.data))

    async def answer(self, token: Token) -> None:
        """Keep a message, and reply with twice the arguments and the reversed payload."""
        await self.keep(token)
        twice = (2 * one & 0xFFFFFFFF for one in token.arguments)
        if token.size:
            await token.reply_i(KEEP, token.data[::-1], *twice)
        else:
            await token.reply(KEEP, *twice)

    async def returned(self, token: Token) -> None:
        """Keep a returned message."""
        self.back[self.node(token)].append(token)
        self.returned_data.append(token.data)

    async def until(self, node: int, count: int) -> None:
        """Poll until a node has received `count` messages, and all its own are answered."""
        bundle = self.bundles[node]

        def there() -> bool:
            return len(self.came[node]) >= count and not any(one.unanswered for one in bundle.endpoints)

        await bundle.until(there, f"{count} messages")

    async def send(self, node: int, to: int, *arguments: int, data: bytes = b"", handler: int = ANSWER) -> None:
        """Send a request from a node's first endpoint."""
        if data:
            await self.endpoints[node].request_i(to, handler, data, *arguments)
        else:
            await self.endpoints[node].request(to, handler, *arguments)

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
