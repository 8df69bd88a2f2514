"""AM-II on the machine: LANais, and on each host a process with an endpoint, which knows those of the other hosts."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.am2.host import Am2, Bundle, Endpoint, Token
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine

Came = tuple[bool, int, tuple[int, ...], bytes]
"""Whether it is a reply, node of the source, arguments, payload."""
KEEP, ANSWER = 1, 2
"""Handlers of every endpoint of the bench."""
TAG = 0x1234_5678_9ABC_DEF0


class Bench:
    """Started hosts; translation n of an endpoint is that of node n. What comes is kept by node."""

    def __init__(self, nodes: int = 2, nic: str = "lanai9", each: int = 1, **options: Any) -> None:
        """`each`: endpoints of each node; further keywords are options of the layer."""
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
        """On whose node a handler runs."""
        return next(n for n, bundle in enumerate(self.bundles) if bundle.process is token.endpoint.process)

    async def keep(self, token: Token) -> None:
        """Keep what comes."""
        self.came[self.node(token)].append((token.is_reply, token.source.node, token.arguments, token.data))

    async def answer(self, token: Token) -> None:
        """Keep it, and answer with twice the arguments and the payload backwards."""
        await self.keep(token)
        twice = (2 * one & 0xFFFFFFFF for one in token.arguments)
        if token.size:
            await token.reply_i(KEEP, token.data[::-1], *twice)
        else:
            await token.reply(KEEP, *twice)

    async def returned(self, token: Token) -> None:
        """Of messages that come back."""
        self.back[self.node(token)].append(token)
        self.returned_data.append(token.data)

    async def until(self, node: int, count: int) -> None:
        """Until so many messages have come to a node, and all of its own are answered."""
        bundle = self.bundles[node]

        def there() -> bool:
            return len(self.came[node]) >= count and not any(one.unanswered for one in bundle.endpoints)

        await bundle.until(there, f"{count} messages")

    async def send(self, node: int, to: int, *arguments: int, data: bytes = b"", handler: int = ANSWER) -> None:
        """A request of a node's first endpoint."""
        if data:
            await self.endpoints[node].request_i(to, handler, data, *arguments)
        else:
            await self.endpoints[node].request(to, handler, *arguments)

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Do all of it at the same time."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
