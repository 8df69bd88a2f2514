"""How fast do medium messages of Active Messages II flow, and how near is that to what the host DMA can?

Strategy: AM-II (paper 002). The first host sends messages of one size to the last one as fast as its credits allow. The
rate is measured from the first handled message on, so that the pipeline is full. The handler leaves the payload in the
staging block or (`_copied`) copies it out, like a program that keeps the data. The limit is the rate of a single DMA of
the largest size, start-up included, measured with a message that is sent alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, Endpoints
from tb.studies.kit.findings import curve
from tb.studies.kit.records import since
from tb.studies.kit.stages import of_part, stage_rates
from tb.studies.kit.statistics import half_bandwidth
from tb.studies.kit.steady import faster, tell_steady
from tb.studies.kit.stream import steady_rate

if TYPE_CHECKING:
    from firmware.am2.host import Token

LAYER = "am2"
SIZES = (128, 256, 512, 1024, 2048, 4096, 8192)
KEEP, COPY = FIRST, FIRST + 1
ENOUGH, COARSE = 32, 7.0
"""Number of messages after which a stream has converged, and accepted difference of its second half: 6 % on the LANai
9.
"""
OPTIONS = {
    "messages": Option(ENOUGH, "messages of each size", 3, 100_000),
    **layer_options(LAYER),
}
QUICK = "messages=6"


class Stream:
    """Messages from the first host to the last."""

    def __init__(self, lab: Lab, ends: Endpoints) -> None:
        self.lab, self.ends = lab, ends
        self.times: list[int] = []
        """Time at which each message was handled, ps."""
        self.target = ends.bundles[-1].process.allocate(SIZES[-1])
        """Address to which the far program copies payload."""
        self.harmed = 0

    async def keep(self, token: Token) -> None:
        """Handle a message and leave its payload in place."""
        self.harmed += token.data != payload(token.size, len(self.times)) if token.size else 0
        self.times.append(self.lab.kernel.now)

    async def copy(self, token: Token) -> None:
        """Handle a message and copy its payload out of the staging block."""
        process = self.ends.endpoints[-1].process
        await process.copy_memory("am2_copy", self.target, token.va, token.size)
        self.harmed += process.load_bytes(self.target, token.size) != payload(token.size, len(self.times))
        await self.keep(token)

    async def rate(self, size: int, handler: int) -> float:
        """Return the rate of messages of a size, in MB/s."""
        self.times.clear()
        near, far = self.ends.endpoints[0], self.ends.far
        for number in range(self.lab.option("messages")):
            await near.request_i(far, handler, payload(size, number))
        await self.ends.answered()
        self.lab.findings.messages += len(self.times)
        return steady_rate(size, self.times)

    async def alone(self, size: int) -> float:
        """Return the rate of the DMA of a single message from the NIC's memory to the host's, in MB/s."""
        begun = self.lab.kernel.now
        self.times.clear()
        await self.ends.endpoints[0].request_i(self.ends.far, KEEP, payload(size, 0))
        await self.ends.answered()
        trace = since(self.lab, begun)
        starts, ends = (of_part(trace, event, Part.HOST_DMA) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE))
        begun, ended = (int(rows[abs(rows["argument2"]) >= size]["time"][-1]) for rows in (starts, ends))
        return size / (ended - begun) * 1e6


def payload(size: int, number: int) -> bytes:
    """Return the payload of message `number`."""
    return bytes((number + at) % 251 for at in range(size))


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    stream = Stream(lab, ends)
    await ends.start(stream.keep, stream.copy)
    ends.serve_far()
    rates, copied, late, moved = [], [], [], dict[str, float]()
    limit = await stream.alone(SIZES[-1])
    for done, size in enumerate(SIZES):
        begun = lab.kernel.now
        rates.append(await stream.rate(size, KEEP))
        half, times = lab.option("messages") // 2, stream.times
        late.append(faster(half / (len(times) - 1), times[half], times[-1], times[0], times[-1]))
        moved = stage_rates(lab.trace(), 0, ends.far, begun, lab.kernel.now)
        copied.append(await stream.rate(size, COPY))
        lab.progress(done + 1, len(SIZES), "sizes")
    for stage, rate in moved.items():
        lab.metric(f"{stage}_MBps", rate)
    lab.check(
        "messages of the stream", not stream.harmed, f"{stream.harmed} messages arrived corrupted or out of order"
    )
    lab.metric("dma_limit_MBps_8192B", limit)
    lab.metric("percent_of_dma_limit_8192B", 100 * rates[-1] / limit)
    tell_steady(lab, late, lab.option("messages") >= ENOUGH, COARSE)
    lab.metric("half_bandwidth_B", half_bandwidth(SIZES, rates, max(rates)))
    curve(lab, "bandwidth", SIZES, rates, "B", "MB/s", "bandwidth_MBps_{}B")
    curve(lab, "bandwidth_copied", SIZES, copied, "B", "MB/s", "bandwidth_MBps_{}B_copied")
    await ends.stop()
    lab.check("returned messages", not ends.back, "messages were returned")
