"""How long does a GRIM active message take from host to host, and which stages take the time?

Strategy: two hosts send one message back and forth. Half of the round trip is the one-way time, of which the median
over the repetitions of a size is recorded. Bandwidth is size over one-way time. The stages of one null message come
from the trace.
"""

from __future__ import annotations

import statistics

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.report.stages import stages_at
from tb.studies.grim._grim import RoundTrips, bring_up, of_ends
from tb.studies.kit.findings import curve
from tb.studies.kit.stages import stage_rates
from tb.studies.kit.statistics import half_bandwidth

LAYER = "grim"
SIZES = (0, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
LONG = 16384
"""Size in bytes from which messages are compared with the rates of the hardware stages."""
OPTIONS = {
    "repetitions": Option(10, "round trips of each size up to 1 KB; longer messages take a fifth of it", 1, 100_000),
    "largest": Option(65536, "largest message in bytes", 0, 1 << 24, unit="bytes"),
    "size": Option(-1, "bytes of all messages; -1 for all sizes up to the largest", -1, 1 << 24, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=3 largest=16384"
TINY = "repetitions=1 largest=256"
ON_BOARD = "largest=256 grim.segment_bytes=256 grim.host_queue_bytes=4032 grim.multicast_trees=0 grim.reply_bytes=0"


async def run(lab: Lab) -> None:
    """Run the study."""
    repetitions, largest, only = (lab.option(name) for name in ("repetitions", "largest", "size"))
    sizes = [size for size in SIZES if size <= largest] if only < 0 else [only]
    libraries = lab.start_layer(LAYER)
    pair = RoundTrips(lab, "", libraries[0], libraries[-1], sizes[-1])
    await bring_up(lab, libraries, of_ends(libraries, *pair.handlers()))
    await pair.open()
    total = sum(_rounds(repetitions, size) for size in sizes)
    done = 0
    medians, spans = [], {}
    for size in sizes:
        trips = await pair.trips(size, _rounds(repetitions, size))
        spans[size] = trips.begun[-1], pair.came_at
        done += len(trips.took)
        lab.progress(done, total, "round trips")
        medians.append(statistics.median(trips.took) / 2)
    _hand_in(lab, sizes, medians)
    _hand_in_narrowest(lab, spans[sizes[-1]], sizes[-1], medians[-1])
    if 0 in sizes and not lab.plan.in_c:  # firmware in C writes no records of messages into the trace
        begun, came_at = spans[0]
        _hand_in_stages(lab, stages_at(lab.trace(), lab.legend(), 0, begun), came_at - begun)
    await pair.close()


def _rounds(repetitions: int, size: int) -> int:
    return repetitions if size <= 1024 else max(1, repetitions // 5)


def _hand_in(lab: Lab, sizes: list[int], medians: list[float]) -> None:
    """Record metrics and curves from the one-way times in ps."""
    bandwidths = [size / ps * 1e6 for size, ps in zip(sizes, medians, strict=True)]
    peak = max(bandwidths)
    lab.metric("bandwidth_MBps_peak", peak)
    lab.metric("half_bandwidth_B", half_bandwidth(sizes, bandwidths, peak))
    curve(lab, "one_way", sizes, [ps / 1e6 for ps in medians], "B", "us", "one_way_us_{}B")
    curve(lab, "bandwidth", sizes, bandwidths, "B", "MB/s", "bandwidth_MBps_{}B")


def _hand_in_narrowest(lab: Lab, span: tuple[int, int], size: int, ps: float) -> None:
    """Record the rate of each hardware stage during the longest message, and the message's share of the slowest one.

    `span` is from the call of the message to its handler in ps.
    """
    rates = stage_rates(lab.trace(), 0, len(lab.running.hosts) - 1, *span)
    if size < LONG:
        return
    for name, rate in rates.items():
        lab.metric(f"stage_MBps_{name}", rate)
    if rates:
        narrowest = min(rates, key=lambda name: rates[name])
        lab.metric(f"percent_of_{narrowest}_{size}B", 100 * size / ps * 1e6 / rates[narrowest])


def _hand_in_stages(lab: Lab, stages: list[tuple[str, int]], whole_ps: int) -> None:
    """Record the stages of the last null message, whose sum must be exact to the picosecond."""
    for number, (name, duration_ps) in enumerate(stages):
        lab.metric(f"stage_us_{number:02d}_{name}", duration_ps / 1e6)
    if stages:
        lab.metric("stage_us_sum", whole_ps / 1e6)
        total = sum(duration for _, duration in stages)
        failure = f"the stages of a null message add up to {total} ps, the message took {whole_ps} ps"
        lab.check("sum of the stages", total == whole_ps, failure)
