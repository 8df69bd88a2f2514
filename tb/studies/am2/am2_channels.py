"""How much bandwidth do stop-and-wait channels of Active Messages II allow, over their number?

Strategy: AM-II (paper 002). There are 1, 2, 4, ... channels between two NICs, half of them for requests. The first host
sends messages of one size to the last one, with more credits than channels. A channel carries one message from its
launch to its acknowledgement. The bandwidth must therefore be the number of request channels times the size, divided by
that round trip, until another stage is the limit. The round trip is that of a message which is sent alone.
"""

from __future__ import annotations

from pymodels.errors import ConfigError
from pymodels.trace import TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.am2._am2 import FIRST, Endpoints
from tb.studies.kit.records import since

LAYER = "am2"
KEEP = FIRST
OPTIONS = {
    "messages": Option(24, "messages", 4, 100_000),
    "size": Option(0, "payload in bytes; 0: short messages of 8 words", 0, 8192, unit="bytes"),
    **layer_options(LAYER),
    "am2.credits": Option(16, "unanswered requests to an endpoint", 1, 32),
}
QUICK = "messages=8"
VARIANTS = {f"{count}": ("", f"am2.channels={count}") for count in (1, 2, 4, 8)}
WORDS = tuple(range(8))
OFF_LAW = 0.15
"""Accepted difference of the rate from the limit of the window; short messages also occupy the NIC in other ways."""


def check(plan: Plan) -> None:
    """Raise ConfigError for fewer credits than request channels, because the credits would then be the limit."""
    most, channels = plan.options["am2.credits"], plan.options["am2.channels"]
    if int(most) < min(int(channels) // 2, 16):
        cause = f"{most} credits, fewer than the request channels"
        raise ConfigError("SET", 0, "am2.credits", cause, "set am2.credits to 16 or more")


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    await ends.start(ends.keep)
    far, near, size = ends.far, ends.endpoints[0], lab.option("size")
    ends.serve_far()
    data, started = bytes(size), lab.kernel.now

    async def send() -> None:
        if size:
            await near.request_i(far, KEEP, data, *WORDS)
        else:
            await near.request(far, KEEP, *WORDS)

    await send()
    await ends.answered()
    trip = _held(lab, started)
    begun = lab.kernel.now
    for _ in range(lab.option("messages")):
        await send()
    await ends.answered()
    moved = _delivered(lab, begun, far)
    rate = (len(moved) - 1) / (moved[-1] - moved[0]) * 1e12
    window = max(lab.option("am2.channels") // 2, 1) / trip * 1e12
    lab.metric("messages_per_s", rate)
    lab.metric("window_messages_per_s", window)
    lab.metric("percent_of_window", 100 * rate / window)
    lab.check(
        "message rate",
        rate <= (1 + OFF_LAW) * window,
        f"{rate:.0f} messages per second, but the channels allow {window:.0f}",
    )
    if size and lab.option("am2.channels") <= 2:
        failure = f"{rate:.0f} messages per second, but the limit of one request channel is {window:.0f}"
        lab.check("rate of one request channel", rate >= (1 - OFF_LAW) * window, failure)
    lab.metric("channel_held_us", trip / 1e6)
    lab.metric("payload_MBps", rate * (size or 4 * len(WORDS)) / 1e6)
    lab.findings.messages += len(ends.kept)
    lab.check("returned messages", not ends.back, "messages were returned")
    await ends.stop()


def _held(lab: Lab, begun: int) -> int:
    """Return the time for which a single request held its channel, from its start to its acknowledgement, in ps."""
    trace = since(lab, begun)
    taken = trace[trace["event"] == TraceEvent.NIC_NOTICED][0]
    mine = trace[(trace["event"] == TraceEvent.ACK_SEEN) & (trace["packet"] == taken["packet"])]
    return int(mine["time"][0]) - int(taken["time"])


def _delivered(lab: Lab, begun: int, far: int) -> list[int]:
    """Return the times at which requests were stored in the endpoint of the last host, in ps."""
    trace = since(lab, begun)
    done = trace[(trace["event"] == TraceEvent.NIC_RECV_DONE) & (trace["packet"] >> 24 != far)]
    return [int(time) for time in done["time"]]
