"""Is the NIC shared among endpoints of Active Messages II by their weights, and what does an idle endpoint cost?

Strategy: AM-II (paper 002). The first host's endpoints of weights 1, 2 and 4 send short messages to the last host. A
further one of weight 2 sends messages as long as two turns of weight 1, so it may send one per turn. Channels are the
scarce resource: messages to a full endpoint occupy all of them until every queue is full. From then on each message
that the NIC dequeues is counted, between two turns of the lightest endpoint. Before that, single messages at many
points of the NIC's loop measure its period: first with one endpoint in NIC memory, then with all frames occupied by
endpoints without traffic.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pymodels.errors import ConfigError
from pymodels.trace import TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.am2._am2 import FIRST, TAG, Endpoints
from tb.studies.kit.records import since

if TYPE_CHECKING:
    from firmware.am2.host import Endpoint

LAYER = "am2"
KEEP = FIRST
WEIGHTS, GREEDY = (1, 2, 4), 2
TURN = 8192
"""Bytes per turn for each unit of weight."""
PLACES, STAGED = 32, 4
"""Queue places: for all messages, and for messages with payload."""
PLUGGED, FAR = 200, 201
"""Translations: the endpoint that is never polled, and the partner."""
LEAST = len(WEIGHTS) + 3
"""Number of sending endpoints."""
APART_PS = 26_100_000
"""Time between two single messages, ps, chosen so that each meets another point of the NIC's loop."""
OPTIONS = {
    "rounds": Option(6, "turns of each endpoint", 4, 10_000),
    "looks": Option(16, "single messages with each number of endpoints", 4, 10_000),
    **layer_options(LAYER),
    "am2.frames": Option(8, "endpoints in the NIC's memory", 1, 64),
    "am2.channels": Option(2, "stop-and-wait channels to a node, half of them for requests", 2, 32),
    "am2.credits": Option(PLACES, "unanswered requests to an endpoint: enough to fill its queue", PLACES, 32),
    "am2.medium": Option(
        GREEDY * TURN, "bytes of a staging block, and of the greedy endpoint's messages", 512, 16384, unit="bytes"
    ),
    "am2.timeout_us": Option(300, "time-out after which an unacknowledged message is retransmitted", 5, 1_000_000),
}
QUICK = "rounds=4 looks=8"


def check(plan: Plan) -> None:
    """Raise ConfigError for fewer frames than sending endpoints."""
    if int(plan.options["am2.frames"]) < LEAST:
        raise ConfigError("SET", 0, "am2.frames", f"{LEAST} endpoints send", f"set am2.frames to {LEAST} or more")


class Senders:
    """Endpoints of the first host that always have messages to send, each with a partner on the last host."""

    def __init__(self, lab: Lab, ends: Endpoints) -> None:
        self.lab, self.ends = lab, ends
        self.near: list[Endpoint] = []
        self.left: list[int] = []
        """Number of unsent messages of each endpoint."""

    async def open(self, plugged: Endpoint) -> None:
        """Open one endpoint per weight, and the greedy one, which is the last."""
        for weight in (*WEIGHTS, GREEDY):
            near = await self.ends.open(self.ends.bundles[0], self.ends.keep, weight=weight)
            far = await self.ends.open(self.ends.bundles[-1], self.ends.keep)
            near.map(PLUGGED, plugged.name, TAG)
            near.map(FAR, far.name, TAG)
            self.near.append(near)
            self.left.append((self.lab.option("rounds") + 2) * weight)
        self.left[-1] = (self.lab.option("rounds") + 2) * self.due

    @property
    def _greedy(self) -> Endpoint | None:
        return self.near[len(WEIGHTS)] if len(self.near) > len(WEIGHTS) else None

    @property
    def due(self) -> int:
        """Messages of the greedy endpoint per turn."""
        return min(-(-GREEDY * TURN // self.lab.option("am2.medium")), GREEDY)

    def _may(self, number: int) -> bool:
        """Return True if an endpoint can post another message without waiting."""
        near = self.near[number]
        most = STAGED if near is self._greedy else self.lab.option("am2.credits")
        return self.left[number] > 0 and near.unanswered < most

    async def fill(self) -> None:
        """Post as many messages as possible without waiting."""
        while any(self._may(number) for number in range(len(self.near))):
            for number, near in enumerate(self.near):
                if self._may(number):
                    self.left[number] -= 1
                    await self._send(near)

    async def _send(self, near: Endpoint) -> None:
        if near is self._greedy:
            await near.request_i(FAR, KEEP, bytes(self.lab.option("am2.medium")))
        else:
            await near.request(FAR, KEEP, *range(8))

    async def flow(self) -> None:
        """Keep all queues full until all messages are sent and answered."""
        bundle = self.ends.bundles[0]
        while any(self.left):
            await bundle.until(lambda: any(self._may(number) for number in range(len(self.near))), "answers")
            await self.fill()
        await bundle.until(lambda: not any(near.unanswered for near in self.near), "the last answers")


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    senders, far = Senders(lab, ends), ends.far
    await ends.start(ends.keep)
    ends.serve_far()
    alone = await _longest_look(lab, ends)
    apart = ends.layers[far].init(ends.bundles[far].process).allocate_bundle()
    plugged = await ends.open(apart, ends.keep)
    await senders.open(plugged)
    idle = ends.layers[0].init(ends.bundles[0].process).allocate_bundle()
    while len(ends.bundles[0].endpoints) + len(idle.endpoints) < lab.option("am2.frames"):
        await ends.open(idle, ends.keep)
    lab.progress(1, 3, "parts")
    full = await _longest_look(lab, ends)
    lab.metric("round_us_alone", alone)
    lab.metric("idle_visit_us", (full - alone) / (lab.option("am2.frames") - 1))
    lab.progress(2, 3, "parts")
    await _plug(lab, ends, senders, plugged)
    begun = lab.kernel.now
    apart.move_endpoint(plugged, ends.bundles[far])
    await senders.flow()
    _record(lab, senders, begun)
    lab.findings.messages += len(ends.kept)
    await ends.answered()
    await ends.stop()
    lab.check("returned messages", not ends.back, "messages were returned")


async def _longest_look(lab: Lab, ends: Endpoints) -> float:
    """Return the longest time in us until the NIC takes a single message: one period of its loop plus a constant."""
    near, begun = ends.endpoints[0], lab.kernel.now
    for _ in range(lab.option("looks")):
        await near.request(ends.far, KEEP)
        await ends.answered()
        await lab.kernel.sleep(APART_PS, "the next message")
    trace = since(lab, begun)
    given = _by_name(trace, TraceEvent.POINTER_WRITTEN)
    return max(time - given[name] for name, time in _by_name(trace, TraceEvent.NIC_NOTICED).items() if name in given)


def _by_name(trace: NDArray[Any], event: TraceEvent) -> dict[int, float]:
    """Return the time of an event in us, by the message's name."""
    found = trace[trace["event"] == event]
    return {int(one["packet"]): int(one["time"]) / 1e6 for one in found if int(one["packet"]) >> 24 == 0}


async def _plug(lab: Lab, ends: Endpoints, senders: Senders, plugged: Endpoint) -> None:
    """Fill a queue that is never polled, hold every request channel by further messages to it, and post."""
    near, lightest = ends.endpoints[0], senders.near[0]
    near.map(PLUGGED, plugged.name, TAG)
    for _ in range(PLACES):
        await near.request(PLUGGED, KEEP)
    for _ in range(lab.option("am2.channels") // 2):
        await lightest.request(PLUGGED, KEEP)
    await lab.kernel.sleep(lab.option("am2.timeout_us") * 1_000_000, "all channels to be occupied")
    await senders.fill()


def _record(lab: Lab, senders: Senders, begun: int) -> None:
    """Record the messages of each endpoint between turns of the lightest one, and the longest wait of a pending
    message.
    """
    trace = since(lab, begun)
    numbers = [near.name.endpoint for near in senders.near]
    taken = trace[(trace["event"] == TraceEvent.NIC_NOTICED) & (trace["packet"] >> 24 == 0)]
    order = [
        (int(one["time"]) / 1e6, numbers.index(int(one["argument"]))) for one in taken if one["argument"] in numbers
    ]
    turns = [at for at, (_, who) in enumerate(order) if who == 0][: lab.option("rounds")]
    inside = order[turns[0] : turns[-1]]
    whole = sum(WEIGHTS)
    total = sum(who < len(WEIGHTS) for _, who in inside)
    for number, weight in enumerate(WEIGHTS):
        share = 100 * sum(who == number for _, who in inside) / total
        lab.metric(f"share_percent_weight_{weight}", share)
        due = 100 * weight / whole
        lab.check(
            f"share of weight {weight}",
            abs(share - due) <= 0.05 * due,
            f"{share:.1f} % of the messages, not {due:.1f} %",
        )
    greedy = sum(who == len(WEIGHTS) for _, who in inside) / (len(turns) - 1)
    lab.metric("greedy_messages_a_turn", greedy)
    lab.metric("greedy_over_its_weight", greedy / senders.due)
    failure = f"the greedy endpoint sent {greedy} messages per turn, but its share is {senders.due}"
    lab.check("share of the greedy endpoint", greedy <= 1.05 * senders.due, failure)
    for number, weight in enumerate((*WEIGHTS, GREEDY)):
        what = f"weight_{weight}" if number < len(WEIGHTS) else "greedy"
        times = [time for time, who in inside if who == number]
        lab.metric(f"worst_wait_us_{what}", max(later - time for time, later in pairwise(times)))
