"""How long does a message of EPOS take, how fast are long streams, and which stage of the pipeline limits them?

Strategy: the baseline of paper 004, or any composition (`SET="epos.protocols=reliability"`). The first host sends, and
the last one returns the same bytes; half of the round trip is the one-way time. Then it sends long messages back to
back from pinned memory. The rate excludes the first message, so that the pipeline is full. Where frames are fetched by
DMA, the bytes moved by both cards' DMA, the cable and `copy_memory` are counted. The stages of the pipeline are the
hardware times of a frame from the trace: host DMA, cable, host DMA, and the copy from staging. The slowest stage is
named.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firmware.epos.host import Epos, MemoryRange, Message
from firmware.epos.nic.pointcuts import NAMES
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, started
from tb.studies.kit.findings import curve
from tb.studies.kit.payload import pattern
from tb.studies.kit.records import since
from tb.studies.kit.rounds import round_trips
from tb.studies.kit.stages import dma_rate, link_rate, of_part
from tb.studies.kit.stream import stream

SIZES = (0, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
STAGES = ("1_host_to_nic", "2_nic_to_nic", "3_nic_to_host", "4_copy")
TABLES = {"freed counts", "routes", "control frame", *(f"words of {name}" for name in NAMES)}
"""Areas of the NIC's memory that are not buffers."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "messages": Option(8, "long messages, back to back", 2, 100_000),
    "largest": Option(65536, "largest message in bytes", 0, 1 << 20, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=1 messages=4"
VARIANTS = {"rendezvous": ("", "epos.protocols=rendezvous")}


async def echo(host: Epos, other: int, size: int, count: int) -> None:
    """Receive and send back `count` messages."""
    for _ in range(count):
        message = await received(host, other, size)
        await host.send(message.source, message.data)


async def received(host: Epos, other: int, size: int) -> Message:
    """Receive a message of a known size, after posting a buffer for it if rendezvous requires one."""
    if "rendezvous" in host.protocols and size >= host.options.rendezvous_from:
        await host.post(other, MemoryRange(host.host.allocate(size).address, size))
    return await host.receive()


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = await started(lab)
    near, far = hosts[0], hosts[-1]
    lab.metric("buffers", len(near.place.parts.keys() - TABLES))
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    times = [await _one_way(lab, near, far, size) for size in sizes]
    curve(lab, "one_way", sizes, times, "B", "us", "one_way_us_{}B")
    await _stream(lab, near, far, sizes[-1])


async def _one_way(lab: Lab, near: Epos, far: Epos, size: int) -> float:
    """Return half of a round trip in us."""
    count, data = lab.option("repetitions"), pattern(size)
    answers = lab.spawn(echo(far, near.me, size, count), "the far host")

    async def ask(number: int) -> None:
        await near.send(far.me, data)
        lab.check(
            "returned bytes", (await received(near, far.me, size)).data == data, f"{size} bytes returned corrupted"
        )

    one_way = (await round_trips(lab, count, ask)).mean_one_way_us
    await lab.all([answers])
    return one_way


async def _stream(lab: Lab, near: Epos, far: Epos, size: int) -> None:
    """Measure a stream of long messages and its stages."""
    count, data = lab.option("messages"), pattern(size)
    memory = near.host.allocate(max(size, 1))
    near.host.store_bytes(memory.address, data)
    begun, copied = lab.kernel.now, far.host.copied_bytes

    async def sends() -> None:
        for _ in range(count):
            await near.send(far.me, MemoryRange(memory.address, size))
        await near.left()

    async def take() -> None:
        lab.check(
            "messages of the stream", (await received(far, near.me, size)).data == data, "the stream arrived corrupted"
        )

    found = await stream(lab, sends(), take, count)
    if not size:
        return
    bandwidth = found.steady_rate(size)
    lab.metric(f"bandwidth_MBps_{size}B", bandwidth)
    pipeline = Pipeline(since(lab, begun), near.me, far.me)
    if size > near.options.pio_limit:
        _hand_in_copies(lab, pipeline.moved(far.host.copied_bytes - copied), count * size)
    rates = pipeline.rates(count * size)
    for name, rate in rates.items():
        lab.metric(f"stage_MBps_{name}", rate)
    if rates:
        narrowest = min(rates, key=lambda name: rates[name])
        lab.metric("narrowest_stage", int(narrowest[0]))
        lab.metric(f"percent_of_stage_{narrowest}", 100 * bandwidth / rates[narrowest])


def _hand_in_copies(lab: Lab, moved: dict[str, int], payload: int) -> None:
    """Record how often each stage moves a byte of payload, including headers and padding."""
    for name, count in moved.items():
        lab.metric(f"bytes_over_payload_{name}", count / payload)
    lab.metric("copies_per_message", sum(count >= payload for count in moved.values()))
    lab.metric("copy_bytes_over_payload", sum(moved.values()) / payload)


class Pipeline:
    """Four stages of long messages from one node to another, from the trace."""

    def __init__(self, trace: NDArray[np.void], near: int, far: int) -> None:
        self._near, self._far = (trace[trace["unit"] // PARTS_PER_NODE == node] for node in (near, far))

    def moved(self, copied: int) -> dict[str, int]:
        """Return the bytes that each stage has moved; `copied` is the number for the receiver's CPU."""
        fetched, taken = self._dma(self._near, 1), self._dma(self._far, -1)
        cable = int(of_part(self._far, TraceEvent.RX_TAIL, Part.NET_RECV)["argument"].sum())
        return dict(zip(STAGES, (fetched, cable, taken, copied), strict=True))

    def _dma(self, side: NDArray[np.void], sign: int) -> int:
        """Return the bytes that a host DMA has moved in one direction."""
        sizes = of_part(side, TraceEvent.DMA_DONE, Part.HOST_DMA)["argument2"]
        return int(np.clip(sign * sizes, 0, None).sum())

    def rates(self, payload: int) -> dict[str, float]:
        """Return the rate of each stage in MB/s while it moves a frame or copies a message."""
        found = dma_rate(self._near), link_rate(self._near), dma_rate(self._far), self._copies(payload)
        return {name: rate for name, rate in zip(STAGES, found, strict=True) if rate}

    def _copies(self, payload: int) -> float:
        """Return the rate of copies from staging slots in MB/s."""
        events = TraceEvent.HANDLER_START, TraceEvent.HANDLER_END
        starts, ends = (of_part(self._far, event, Part.HOST_CPU)["time"] for event in events)
        took = int(ends.sum() - starts.sum())
        return payload / took * 1e6 if took else 0.0
