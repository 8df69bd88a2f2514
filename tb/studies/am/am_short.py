"""How long does a short Active Message take, and what is the message rate when all hosts send?

Strategy: AM (paper 002), messages without payload. First the first host sends requests to the last host, whose handler
replies; half of a round trip is the one-way time. Then all hosts send requests to all others in turn, with up to four
outstanding between two nodes; requests and replies are counted. The handlers check that all messages arrive in order.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.hosts import start_in_turn, together
from tb.studies.kit.rounds import round_trips
from tb.studies.kit.traffic import Targets, senders_to, to_all_in_turn

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
    """Process on each host."""

    def __init__(self, lab: Lab, layers: list[Am]) -> None:
        self.lab, self.came = lab, 0
        self.ports: list[Port] = [layer.open([self.ask, self.answer, self.take]) for layer in layers]
        self.next = [{port.me: 0 for port in self.ports} for _ in self.ports]
        """Number of the next request of each sender, by receiving host."""

    async def ask(self, call: Call) -> None:
        """Reply to a request."""
        await call.reply(self.answer, *call.arguments)

    async def answer(self, call: Call) -> None:
        """Count a reply."""
        self.came += 1

    async def take(self, call: Call) -> None:
        """Check the order of a request that the library answers."""
        due = self.next[call.port.me]
        self.lab.check(
            "order of requests", call.arguments == (due[call.source],), f"host {call.port.me}: a request out of order"
        )
        due[call.source] += 1

    async def ask_far(self, number: int) -> None:
        """Do one round trip from the first to the last host."""
        await self.ports[0].request(self.ports[-1].me, self.ask, number)
        await self.ports[0].until(lambda: self.came == number + 1, "the answer")

    async def send(self, port: Port, targets: Targets) -> None:
        """Send requests to all others in turn, then poll until all have arrived and are answered."""
        for number, target in enumerate(targets[port.me]):
            await port.request(target, self.take, number // (len(self.ports) - 1))
        due = len(senders_to(targets, port.me))
        await port.until(lambda: not port.unanswered and sum(self.next[port.me].values()) == due, "the last request")


async def run(lab: Lab) -> None:
    """Run the study."""
    layers: list[Any] = lab.start_layer(LAYER)
    await start_in_turn(layers)
    program = Program(lab, layers)
    trips, count = lab.option("repetitions"), lab.option("messages")
    if trips:
        far = program.ports[-1]
        serving = lab.spawn(far.until(lambda: far.handled == trips, "all round trips"), "the last host")
        took = await round_trips(lab, trips, program.ask_far, messages=0)
        await lab.all([serving])
        lab.metric("one_way_us", statistics.median(took.us) / 2)
    lab.progress(1, 2, "parts")
    if count:
        begun, before = lab.kernel.now, sum(port.sent for port in program.ports)
        targets = to_all_in_turn(len(program.ports), count)
        await together(lab, "host", [program.send(port, targets) for port in program.ports])
        sent, took_us = sum(port.sent for port in program.ports) - before, (lab.kernel.now - begun) / 1e6
        lab.metric("messages_per_ms", 1000 * sent / took_us)
        lab.metric("gap_us_per_host", took_us * len(program.ports) / sent)
    lab.findings.messages += sum(port.sent for port in program.ports)
