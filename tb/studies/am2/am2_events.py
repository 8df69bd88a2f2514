"""What does it cost to sleep until a message of Active Messages II comes, and what does it save?

Strategy: AM-II (paper 002). The first host sends short messages to the last one with pauses between them. A program
there waits for each message with two event masks: with the first the wait spins, with the second it sleeps until the
NIC interrupts. Two results are compared: the time of a message from endpoint to handler, and the CPU utilisation. Both
utilisations include the CPU time to handle messages.
"""

from __future__ import annotations

import numpy as np

from firmware.am2.host import Mask
from pymodels.trace import TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, Endpoints
from tb.studies.kit.cpu import CpuTime
from tb.studies.kit.records import since

LAYER = "am2"
KEEP = FIRST
OPTIONS = {
    "messages": Option(6, "messages of each kind of wait", 1, 100_000),
    "pause_us": Option(200, "between two messages", 50, 100_000),
    **layer_options(LAYER),
}
QUICK = "messages=2"
TINY = "messages=1 pause_us=50"


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    await ends.start(ends.keep)
    await measure(lab, ends, "spinning", Mask.NONE)
    await measure(lab, ends, "sleeping", Mask.NOT_EMPTY)
    lab.check("returned messages", not ends.back, "messages were returned")


async def measure(lab: Lab, ends: Endpoints, what: str, mask: Mask) -> None:
    """Measure one kind of wait on the last host and record its metrics."""
    bundle, host, count = ends.bundles[-1], ends.layers[-1].host, lab.option("messages")
    bundle.set_event_mask(mask)
    ends.kept.clear()

    async def receive() -> None:
        while len(ends.kept) < count:
            await bundle.wait()
            await bundle.poll()

    begun, used = lab.kernel.now, CpuTime(host)
    receiving = lab.spawn(receive(), "the far program")
    for number in range(count):
        await lab.kernel.sleep(lab.option("pause_us") * 1_000_000)
        await ends.endpoints[0].request(ends.far, KEEP, number)
    await lab.all([receiving])
    lab.metric(f"cpu_share_percent_{what}", used.percent(lab.kernel.now - begun))
    await ends.answered()
    lab.metric(f"wake_us_{what}", _to_handler(lab, begun, ends.far))
    lab.findings.messages += count


def _to_handler(lab: Lab, begun: int, far: int) -> float:
    """Return the median time of the requests from endpoint to handler, in us."""
    trace = since(lab, begun)
    trace = trace[trace["packet"] >> 24 != far]
    done, start = (trace[trace["event"] == event] for event in (TraceEvent.NIC_RECV_DONE, TraceEvent.HANDLER_START))
    times = dict(zip(done["packet"].tolist(), done["time"].tolist(), strict=True))
    waited = [at - times[packet] for packet, at in zip(start["packet"].tolist(), start["time"].tolist(), strict=True)]
    return float(np.median(waited)) / 1e6
