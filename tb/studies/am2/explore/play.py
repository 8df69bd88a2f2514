"""Two programs with one endpoint each that send each other requests by AM-II.

They poll their endpoints for ever; a poll without a message does not change the state (`SmallWorld.serves`). A returned
message is recorded and counts as an answer of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.am2.host import Am2, Bundle, Token
from firmware.am2.nic import main
from firmware.am2.nic.layout import Place, Word
from firmware.am2.nic.words import LEAD
from firmware.view import ClusterView
from tb.explore.part import machine
from tb.explore.requests import Choices, Traffic

LEFT_OUT = (
    *("Am2Play", "Options", "Place", "PageTable", "PortMap"),  # never change
    *("Incoming.handled", "Pager.log", "Outgoing._controls_sent"),  # count
    "Frame.called",  # describes
)
TINY: Choices = {"frames": 1, "channels": 2, "medium": 512, "timeout_us": 1_000_000}
TAG, TAKE, ANSWERED = 7, 1, 2
COUNTS = range(Word.BAD, Word.DROPPED + 4)
"""Words of the NIC that only count."""


class User:
    """Program of a node."""

    def __init__(self, bundle: Bundle, node: int, traffic: Traffic) -> None:
        self.bundle, self.node, self.traffic = bundle, node, traffic
        self.seen: list[tuple[Any, ...]] = []

    async def open(self) -> None:
        """Open the endpoint."""
        endpoint = await self.bundle.allocate_endpoint()
        await endpoint.set_tag(TAG)
        for number, handler in enumerate((self.returned, self.take, self.answered)):
            endpoint.set_handler(number, handler)

    async def take(self, token: Token) -> None:
        """Handle a request: answer it."""
        self.seen.append(("request", *token.arguments, token.data))
        if token.size:
            await token.reply_i(ANSWERED, token.data, *token.arguments)
        else:
            await token.reply(ANSWERED, *token.arguments)

    async def answered(self, token: Token) -> None:
        """Handle an answer."""
        self.seen.append(("answer", *token.arguments, token.data))

    async def returned(self, token: Token) -> None:
        """Handle a returned message."""
        self.seen.append((token.opcode, token.status.name, *token.arguments))

    async def run(self) -> None:
        """Send the requests, then serve for ever."""
        (endpoint,) = self.bundle.endpoints
        for number, request in enumerate(self.traffic):
            if request.source == self.node and request.data:
                await endpoint.request_i(0, TAKE, request.data, number)
            elif request.source == self.node:
                await endpoint.request(0, TAKE, number)
        await self.bundle.until(lambda: False)


class Am2Play:
    """Both programs, with endpoints mapped to each other."""

    def __init__(self, traffic: Traffic, flaw: Callable[[], None] | None) -> None:
        """Set up the play; `flaw` first breaks the firmware."""
        if flaw:
            flaw()
        end = Place(1, 2, 2, 512).end(LEAD)
        self.machine = machine(2, False, sram_bytes=end + 4095 & -4096, host_bytes=1 << 16)
        self.users: list[User] = []
        for node in range(2):
            view = ClusterView(**self.machine.view(node, **TINY))
            self.machine.processor(node).spawn(main(self.machine.nic(node), view), "firmware")
            layer = Am2(self.machine.host(node), view)
            self.machine.finish(layer.start())
            user = User(layer.init().allocate_bundle(), node, traffic)
            self.machine.finish(user.open())
            self.users.append(user)
        ends = [user.bundle.endpoints[0] for user in self.users]
        for one, other in (ends, ends[::-1]):
            one.map(0, other.name, TAG)

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [user.run for user in self.users]

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""
        return tuple(self.users[node].seen)

    def idle(self, node: int) -> str:
        """See `Play`."""
        return ""

    def normalise(self, node: int) -> None:
        """See `Play`; no state needs normalisation."""

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {"sram": [(COUNTS.start, COUNTS.stop)]}
