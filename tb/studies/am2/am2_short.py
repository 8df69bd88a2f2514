"""How long does a short message of Active Messages II take, and how many go through when all hosts send?

Strategy: AM-II (paper 002), messages without payload. First the first host sends requests to the last one, whose
handler answers; half of a round trip is the one-way time. Then all hosts send requests to all others in turn, with up
to four unanswered per pair. Requests and replies are counted, each of which is a message. The handlers check that each
arrived once.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, Endpoints
from tb.studies.kit.hosts import together
from tb.studies.kit.rounds import round_trips
from tb.studies.kit.traffic import Targets, senders_to, to_all_in_turn

if TYPE_CHECKING:
    from firmware.am2.host import Token

LAYER = "am2"
ASK, ANSWER, TAKE = FIRST, FIRST + 1, FIRST + 2
OPTIONS = {
    "repetitions": Option(20, "round trips", 0, 1_000_000),
    "messages": Option(40, "requests of each host, in the second part", 0, 1_000_000),
    **layer_options(LAYER),
}
QUICK = "repetitions=2 messages=4"


class Program:
    """Programs of all hosts."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.ends, self.answers = lab, Endpoints(lab, lab.start_layer(LAYER)), 0
        self.hosts = len(self.ends.layers)
        self.seen: list[set[tuple[int, ...]]] = [set() for _ in range(self.hosts)]
        """Requests received by each host, as (source, number)."""

    async def ask(self, token: Token) -> None:
        """Handle a request: answer it."""
        await token.reply(ANSWER, *token.arguments)

    async def answer(self, token: Token) -> None:
        """Handle an answer."""
        self.answers += 1

    async def take(self, token: Token) -> None:
        """Handle a request that the library answers."""
        host, which = token.arguments[0], (token.source.node, token.arguments[1])
        self.lab.check("duplicates", which not in self.seen[host], f"host {host}: request {which} arrived twice")
        self.seen[host].add(which)

    async def ask_far(self, number: int) -> None:
        """Make one round trip between the first and the last host."""
        await self.ends.endpoints[0].request(self.hosts - 1, ASK)
        await self.ends.bundles[0].until(lambda: self.answers == number + 1, "the answer")

    async def send(self, host: int, targets: Targets) -> None:
        """Send requests to all others in turn; then serve until all requests have arrived and the own ones are
        answered.
        """
        endpoint, due = self.ends.endpoints[host], len(senders_to(targets, host))
        for number, target in enumerate(targets[host]):
            await endpoint.request(target, TAKE, target, number)

        def over() -> bool:
            return not endpoint.unanswered and len(self.seen[host]) == due

        await self.ends.bundles[host].until(over, "the last request")


async def run(lab: Lab) -> None:
    """Run the study."""
    program = Program(lab)
    ends, trips, count = program.ends, lab.option("repetitions"), lab.option("messages")
    await ends.start(program.ask, program.answer, program.take)
    if trips:
        far = ends.endpoints[-1]
        served = ends.bundles[-1].until(lambda: far.handled == trips, "all round trips")
        serving = lab.spawn(served, "the last host")
        took = await round_trips(lab, trips, program.ask_far)
        await lab.all([serving])
        lab.metric("one_way_us", statistics.median(took.us) / 2)
    lab.progress(1, 2, "parts")
    if count:
        begun = lab.kernel.now
        targets = to_all_in_turn(program.hosts, count)
        await together(lab, "host", [program.send(host, targets) for host in range(program.hosts)])
        sent, took_us = 2 * count * program.hosts, (lab.kernel.now - begun) / 1e6
        lab.metric("messages_per_ms", 1000 * sent / took_us)
        lab.metric("gap_us_per_host", took_us * program.hosts / sent)
        lab.findings.messages += sent
    lab.check("returned messages", not ends.back, f"{len(ends.back)} messages were returned")
