"""How long does a GRIM active message take from host to host, and where does the time go?

Strategy: two hosts send one message back and forth; half of the round trip is the one-way time, the median over the
repetitions of a size is handed in. Bandwidth is size over one-way time. The stages of one null message come from the
trace.
"""

from __future__ import annotations

import statistics
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.report.stages import stages_at
from tb.studies.grim._grim import Source, bring_up
from tb.studies.kit.curves import half_bandwidth
from tb.studies.kit.stages import stage_rates

LAYER = "grim"
SIZES = (0, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
LONG = 16384
"""From this size on, a message is compared with the stages of the hardware that it goes through."""
OPTIONS = {
    "repetitions": Option(10, "round trips of each size up to 1 KB; longer messages take a fifth of it", 1, 100_000),
    "largest": Option(65536, "largest message in bytes", 0, 1 << 24, unit="bytes"),
    "size": Option(-1, "messages of so many bytes only; -1: of all sizes up to the largest", -1, 1 << 24, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=3 largest=16384"
TINY = "repetitions=1 largest=256"


async def run(lab: Lab) -> None:
    """The study."""
    repetitions, largest, only = (lab.option(name) for name in ("repetitions", "largest", "size"))
    sizes = [size for size in SIZES if size <= largest] if only < 0 else [only]
    libraries = lab.start_layer(LAYER)
    pair = _Pair(lab, libraries, sizes[-1])
    await pair.enable()
    total = sum(_rounds(repetitions, size) for size in sizes)
    done = 0
    medians = []
    for size in sizes:
        rounds = _rounds(repetitions, size)
        times = [await pair.round_trip(size) for _ in range(rounds)]
        done += rounds
        lab.progress(done, total, "round trips")
        medians.append(statistics.median(times) / 2)
    _hand_in(lab, sizes, medians)
    _hand_in_narrowest(lab, pair, sizes[-1], medians[-1])
    if 0 in sizes and not lab.plan.in_c:  # firmware in C writes no records of messages into the trace
        stages = stages_at(lab.trace(), lab.legend(), 0, pair.null_from)
        _hand_in_stages(lab, stages, pair.null_to - pair.null_from)
    await pair.close()


def _rounds(repetitions: int, size: int) -> int:
    return repetitions if size <= 1024 else max(1, repetitions // 5)


def _hand_in(lab: Lab, sizes: list[int], medians: list[float]) -> None:
    """Metrics and curves from the one-way times in picoseconds."""
    bandwidths = [size / ps * 1e6 for size, ps in zip(sizes, medians, strict=True)]
    for size, ps, bandwidth in zip(sizes, medians, bandwidths, strict=True):
        lab.metric(f"one_way_us_{size}B", ps / 1e6)
        lab.metric(f"bandwidth_MBps_{size}B", bandwidth)
    peak = max(bandwidths)
    lab.metric("bandwidth_MBps_peak", peak)
    lab.metric("half_bandwidth_B", half_bandwidth(sizes, bandwidths, peak))
    lab.series("one_way", sizes, [ps / 1e6 for ps in medians], "B", "us")
    lab.series("bandwidth", sizes, bandwidths, "B", "MB/s")


def _hand_in_narrowest(lab: Lab, pair: _Pair, size: int, ps: float) -> None:
    """Beside the longest message's bandwidth, how fast each stage of the hardware was while it moved it."""
    rates = stage_rates(lab.trace(), 0, len(pair.libraries) - 1, pair.last_from, pair.last_to)
    if size < LONG:
        return
    for name, rate in rates.items():
        lab.metric(f"stage_MBps_{name}", rate)
    if rates:
        narrowest = min(rates, key=lambda name: rates[name])
        lab.metric(f"percent_of_{narrowest}_{size}B", 100 * size / ps * 1e6 / rates[narrowest])


def _hand_in_stages(lab: Lab, stages: list[tuple[str, int]], whole_ps: int) -> None:
    """The breakdown of the last null message; it must add up to the picosecond."""
    for number, (name, duration_ps) in enumerate(stages):
        lab.metric(f"stage_us_{number:02d}_{name}", duration_ps / 1e6)
    if stages:
        lab.metric("stage_us_sum", whole_ps / 1e6)
        total = sum(duration for _, duration in stages)
        failure = f"the stages of a null message add up to {total} ps, the message took {whole_ps} ps"
        lab.check(total == whole_ps, failure)


class _Pair:
    """Two hosts that play ping-pong."""

    def __init__(self, lab: Lab, libraries: list[Any], largest: int) -> None:
        self.lab = lab
        self.libraries = libraries
        self.near, self.far = libraries[0], libraries[-1]
        self.back = False
        self.stop = False
        self.null_from = self.null_to = 0
        """When the last null message was sent, and when its handler began."""
        self.last_from = self.last_to = 0
        """The same of the last message."""
        self._there, self._here = Source(self.near.host, largest, 1), Source(self.far.host, largest, 2)
        self._loop: Any = None

    async def enable(self) -> None:
        """Bring both libraries up, publish the two handlers, start the far host's loop."""
        handlers: list[dict[str, Any]] = [{} for _ in self.libraries]
        handlers[0]["pong"], handlers[-1]["ping"] = self._on_pong, self._on_ping
        await bring_up(self.lab, self.libraries, handlers)
        self.ping = await self.near.resolve_handler("ping")
        self.pong = await self.far.resolve_handler("pong")
        self.to_far = self.near.get_dest_id(self.far.get_my_vnn())
        self.to_near = self.far.get_dest_id(self.near.get_my_vnn())
        self._loop = self.lab.spawn(self.far.wait_for(lambda: self.stop), "far host")

    async def round_trip(self, size: int) -> int:
        """One message there and back; picoseconds."""
        self.back = False
        begun = self.last_from = self.lab.kernel.now
        if size == 0:
            self.null_from = begun
        await self.near.send(self.to_far, self.ping, size, payload=self._there.region(size))
        await self.near.wait_for(lambda: self.back)
        self.lab.findings.messages += 2
        return self.lab.kernel.now - begun

    async def _on_ping(self, source: int, size: int, last: int, a2: int, a3: int, payload: memoryview) -> None:
        if last:
            self.stop = True
            return
        self.last_to = self.lab.kernel.now
        if size == 0:
            self.null_to = self.lab.kernel.now
        self.lab.check(payload == self._there.bytes[:size], f"{size} bytes arrived changed at the far host")
        await self.far.send(self.to_near, self.pong, size, payload=self._here.region(size))

    def _on_pong(self, source: int, size: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.lab.check(payload == self._here.bytes[:size], f"{size} bytes arrived changed at the near host")
        self.back = True

    async def close(self) -> None:
        """Let the far host's loop end."""
        await self.near.send(self.to_far, self.ping, 0, 1)
        await self.lab.all([self._loop])
