"""How long does a short Active Message take, and how many go through when all hosts send?

Strategy: AM (paper 002), messages without payload. First the first host asks the last one, whose handler answers; half
of a round trip is the one-way time. Then all hosts send requests to all others in turn, with up to four of each pair
not answered; what is counted are requests and replies, each of which is a message. The handlers check that all came,
and in their order.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options

if TYPE_CHECKING:
    from firmware.am.host import Am, Call, Port

LAYER = "am"
OPTIONS = {
    "repetitions": Option(20, "round trips", 0, 1_000_000),
    "messages": Option(40, "requests of each host, in the second part", 0, 1_000_000),
    **layer_options(LAYER),
}
QUICK = "repetitions=2 messages=4"
TINY = "repetitions=1 messages=2"


class Program:
    """A process on each host."""

    def __init__(self, lab: Lab, layers: list[Am]) -> None:
        self.lab, self.came = lab, 0
        self.ports: list[Port] = [layer.open([self.ask, self.answer, self.take]) for layer in layers]
        self.next = [{port.me: 0 for port in self.ports} for _ in self.ports]
        """At each host, of each other one: the number of its next request."""

    async def ask(self, call: Call) -> None:
        """A request that is answered."""
        await call.reply(self.answer, *call.arguments)

    async def answer(self, call: Call) -> None:
        """Its answer."""
        self.came += 1

    async def take(self, call: Call) -> None:
        """A request that the library answers."""
        due = self.next[call.port.me]
        self.lab.check(call.arguments == (due[call.source],), f"host {call.port.me}: a request out of order")
        due[call.source] += 1

    async def round_trips(self, count: int) -> list[float]:
        """How long each took, microseconds."""
        near, far, took = self.ports[0], self.ports[-1].me, []
        for number in range(count):
            begun = self.lab.kernel.now
            await near.request(far, self.ask, number)
            await near.until(lambda: self.came == number + 1, "the answer")  # noqa: B023
            took.append((self.lab.kernel.now - begun) / 1e6)
        return took

    async def send(self, port: Port, count: int) -> None:
        """Requests to all others in turn; then serve them until all have ended."""
        partners = port.partners
        for number in range(count):
            await port.request(partners[number % len(partners)], self.take, number // len(partners))
        await self.serve(port, count)

    async def serve(self, port: Port, count: int) -> None:
        """Poll until all requests to this host have come, and its own are answered."""
        others = [sender.partners for sender in self.ports if sender is not port]
        due = sum(len(range(partners.index(port.me), count, len(partners))) for partners in others)
        await port.until(lambda: not port.unanswered and sum(self.next[port.me].values()) == due, "the last request")


async def run(lab: Lab) -> None:
    """The study."""
    layers: list[Any] = lab.start_layer(LAYER)
    for layer in layers:
        await layer.start()
    program = Program(lab, layers)
    trips, count = lab.option("repetitions"), lab.option("messages")
    if trips:
        far = program.ports[-1]
        serving = lab.spawn(far.until(lambda: far.handled == trips, "all round trips"), "the last host")
        took = await program.round_trips(trips)
        await lab.all([serving])
        lab.metric("one_way_us", statistics.median(took) / 2)
    lab.progress(1, 2, "parts")
    if count:
        begun, before = lab.kernel.now, sum(port.sent for port in program.ports)
        await lab.all([lab.spawn(program.send(port, count), f"host {port.me}") for port in program.ports])
        sent, took_us = sum(port.sent for port in program.ports) - before, (lab.kernel.now - begun) / 1e6
        lab.metric("messages_per_ms", 1000 * sent / took_us)
        lab.metric("gap_us_per_host", took_us * len(program.ports) / sent)
    lab.findings.messages += sum(port.sent for port in program.ports)
