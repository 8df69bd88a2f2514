"""How long does a short message of Active Messages II take, from posting it to its endpoint, and where is the time?

Strategy: AM-II (paper 002). The first host sends requests of 0 to 8 words to the last one, whose handler replies with
as many. Requests are sent one at a time, so that nothing waits. The stages of each request come from the trace: until
the NIC of the destination has stored the message in its endpoint (the paper's one-way latency), and until the handler
begins. They must add up. Metrics without a number are those for `words`, the median over the repetitions.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, Endpoints
from tb.studies.kit.rounds import round_trips
from tb.studies.kit.stages import stage_times

if TYPE_CHECKING:
    from firmware.am2.host import Token

LAYER = "am2"
SIZES = (0, 1, 2, 4, 8)
ANSWER, TAKE = FIRST, FIRST + 1
IN_ENDPOINT = "nic_receive"
"""Stage at whose end a message is in its endpoint."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each number of words", 1, 100_000),
    "words": Option(4, "words of the message whose times are the metrics without a number", 0, 8),
    **layer_options(LAYER),
}
QUICK = "repetitions=1"


async def run(lab: Lab) -> None:
    """Run the study."""
    came: list[tuple[int, ...]] = []

    async def answer(token: Token) -> None:
        """Handle a request: reply with as many words."""
        await token.reply(TAKE, *token.arguments)

    async def take(token: Token) -> None:
        """Handle a reply."""
        came.append(token.arguments)

    ends = Endpoints(lab, lab.start_layer(LAYER))
    await ends.start(answer, take)
    ends.serve_far()
    near, bundle = ends.endpoints[0], ends.bundles[0]
    await near.request(ends.far, ANSWER)  # the first message finds drivers that have just been loaded
    await bundle.until(lambda: bool(came), "the first answer")
    sizes = sorted({*SIZES, lab.option("words")})
    curves: dict[str, list[float]] = {"one_way_to_endpoint": [], "one_way_to_handler": [], "round_trip": []}
    for done, count in enumerate(sizes):

        async def ask(number: int, count: int = count) -> None:
            words, before = tuple(range(number, number + count)), len(came)
            await near.request(ends.far, ANSWER, *words)
            await bundle.until(lambda: len(came) > before, "the answer")
            lab.check("words of replies", came[-1] == words, f"{count} words returned corrupted")

        since = lab.kernel.now
        measure(lab, curves, count, since, (await round_trips(lab, lab.option("repetitions"), ask)).us)
        lab.progress(done + 1, len(sizes), "sizes")
    for name, curve in curves.items():
        lab.series(name, sizes, curve, "words", "us")
    await ends.stop()
    lab.check("returned messages", not ends.back, "messages were returned")


def measure(lab: Lab, curves: dict[str, list[float]], count: int, since: int, trips: list[float]) -> None:
    """Record the times of the messages of one size."""
    stages = stage_times(lab, 0, since)
    order = list(stages)
    until = order[: order.index(IN_ENDPOINT) + 1] if IN_ENDPOINT in stages else []
    found = {
        "one_way_to_endpoint": [sum(one) for one in zip(*(stages[name] for name in until), strict=True)],
        "one_way_to_handler": [sum(one) for one in zip(*stages.values(), strict=True)],
        "round_trip": trips,
    }
    for name, times in found.items():
        curves[name].append(statistics.median(times) if times else 0.0)
    if count == lab.option("words"):
        lab.metric("one_way_us_to_endpoint", curves["one_way_to_endpoint"][-1])
        lab.metric("one_way_us_to_handler", curves["one_way_to_handler"][-1])
        lab.metric("round_trip_us", curves["round_trip"][-1])
        for name, times in stages.items():
            lab.metric(f"{name}_us", statistics.median(times))
