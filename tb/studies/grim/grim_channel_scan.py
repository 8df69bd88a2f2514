"""How long does the NI search its logical channels for new messages, and how many channels are affordable?

Strategy: the firmware's own search of the last 1, 8, ..., 32 channels, all empty, between two reads of RTC (paper 000,
4.3.4). The trace has the same interval to the picosecond, from the first instruction after one read of RTC to the end
of the other. Then the same search runs while messages arrive and the host stores into the SRAM. Network and I/O bus
have priority over the processor, so it takes longer. The limit follows as in the paper: a search may take half of the
minimum latency of the message layers of the time. Metrics name the NIC's clock. That of the paper's LANai 9 is not
published, so a variant uses 100 MHz.
"""

from __future__ import annotations

import random
import statistics
import struct
from typing import Any

from firmware.grim.nic.layout import Word
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Source, bring_up

LAYER = "grim"
NEEDS = ("timed searches",)
COUNTS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32)
MOST = max(COUNTS)
STEP = 8
"""Unit of the suggested number of channels; the exact number is recorded too."""
OPTIONS = {
    "latency": Option(10, "minimum latency of a message in us, half of which a search may take", 1, 1000),
    "times": Option(64, "timed searches for each number of channels", 1, 10_000),
    "disturbed": Option(64, "timed searches while messages arrive", 1, 10_000),
    "stream": Option(100_000, "bytes that arrive during the disturbed searches", 4096, 1 << 24, unit="bytes"),
}
QUICK = "times=16 disturbed=16"
VARIANTS = {"100MHz": ("", "clock.nic_ps=10000")}
SIZES = (512, 8192)
"""Range of the sizes in bytes of the disturbing messages."""
STORES = 1024
"""Bytes that the host stores at a time."""
TICK_US = 0.5
LOOK_PS = 400_000_000
"""Interval in ps of the host's polls of the NI's word; each poll is an access to SRAM."""


async def run(lab: Lab) -> None:
    """Run the study."""
    nic = f"{lab.plan.profile.kind}_{round(1e6 / lab.plan.profile.integer('clock.nic_ps'))}MHz"
    options = {"channels": MOST, "search_timer": 1, "sram_bytes": lab.plan.profile.integer("sram.bytes")}
    libraries = lab.start_layer(LAYER, options)
    arrived: list[int] = []

    def on_data(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        arrived.append(len(payload))

    await bring_up(lab, libraries, [{"data": on_data}, *({} for _ in libraries[1:])])
    timer = _Timer(lab, libraries[0])
    traced, by_rtc = [], []
    for done, count in enumerate(COUNTS):
        durations, mean = await timer.search(count, lab.option("times"))
        traced.append(statistics.median(durations))
        by_rtc.append(mean)
        lab.progress(done + 1, len(COUNTS) + 1, "numbers of channels")
    _hand_in(lab, nic, traced, by_rtc)
    disturbed = await _disturbed(lab, timer, libraries, arrived)
    lab.metric(f"scan_disturbed_us_{nic}_{MOST}", max(disturbed))
    lab.check(
        "disturbed search",
        max(disturbed) > traced[-1],
        f"the disturbed search took {max(disturbed)} us, not longer than {traced[-1]} us",
    )


def _hand_in(lab: Lab, nic: str, traced: list[float], by_rtc: list[float]) -> None:
    """Record metrics and curves from times in us, by COUNTS."""
    for count, us, rtc_us in zip(COUNTS, traced, by_rtc, strict=True):
        lab.metric(f"scan_us_{nic}_{count}", us)
        lab.metric(f"scan_rtc_us_{nic}_{count}", rtc_us)
        lab.check(
            "search time by trace and RTC",
            abs(us - rtc_us) <= TICK_US,
            f"{count} channels: {us} us in the trace, {rtc_us} us by RTC",
        )
    lab.series("scan", COUNTS, traced, "channels", "us")
    lab.series("scan_by_rtc", COUNTS, by_rtc, "channels", "us")
    slope = (traced[-1] - traced[0]) / (MOST - 1)
    lab.metric(f"scan_us_per_channel_{nic}", slope)
    channels = (lab.option("latency") / 2 - traced[0]) / slope + 1
    lab.metric(f"channels_within_half_of_{lab.option('latency')}us_raw_{nic}", channels)
    lab.metric(f"channels_within_half_of_{lab.option('latency')}us_{nic}", int(channels) // STEP * STEP)


async def _disturbed(lab: Lab, timer: _Timer, libraries: list[Any], arrived: list[int]) -> list[float]:
    """Return the search times in us while messages arrive and the host stores into the SRAM.

    The sizes are random, so that the messages have no rhythm that avoids the searches. The stores go to the queue of
    the last channel, whose back pointer does not change, so the search finds no message.
    """
    near, far, sizes = libraries[0], libraries[-1], _sizes(lab)
    number, where, source = await far.resolve_handler("data"), far.get_dest_id(0), Source(far.host, SIZES[1], 1)

    async def send() -> None:
        for size in sizes:
            await far.send(where, number, payload=source.region(size))

    async def store() -> None:
        block, queue = near.host.allocate(STORES), near.host.nic_base + near.layout.queues[MOST - 1]
        while len(arrived) < len(sizes):
            await near.host.pio_copy(queue, block.address, STORES)

    tasks = [lab.spawn(send(), "the sender"), lab.spawn(store(), "the stores")]
    tasks.append(lab.spawn(near.wait_for(lambda: len(arrived) == len(sizes)), "the receiver"))
    durations, _ = await timer.search(MOST, lab.option("disturbed"))
    await lab.all(tasks)
    lab.findings.messages += len(sizes)
    lab.check("arrivals", arrived == sizes, f"messages of {arrived} bytes arrived, but {sizes} were sent")
    return durations


def _sizes(lab: Lab) -> list[int]:
    """Return random message sizes with a sum of at least the option `stream`."""
    rng, sizes = random.Random(lab.seed), [0]
    while sum(sizes) < lab.option("stream"):
        sizes.append(rng.randrange(*SIZES))
    return sizes[1:]


class _Timer:
    """Host's requests for timed searches, and their durations in the trace."""

    def __init__(self, lab: Lab, library: Any) -> None:
        self._lab, self._host = lab, library.host
        self._unit = unit(0, Part.NIC_CPU)
        self._paths = [lab.running.paths.known("grim/nic", path) for path in ("search_begin", "search_told")]

    async def search(self, count: int, times: int) -> tuple[list[float], float]:
        """Time `times` searches of `count` channels; return durations from the trace in us, and their mean by RTC."""
        host, begun = self._host, self._lab.kernel.now
        ticks = await host.pio_read(host.nic_base + Word.TICKS)
        await host.pio_write(host.nic_base + Word.SEARCH, struct.pack(">2H", count, times))
        while await host.pio_read(host.nic_base + Word.SEARCH):
            await self._lab.kernel.sleep(LOOK_PS, "the end of the searches")
        mean = (await host.pio_read(host.nic_base + Word.TICKS) - ticks) * TICK_US / times
        return self._traced(begun), mean

    def _traced(self, since: int) -> list[float]:
        """Return the times in us from the work after one read of RTC to the work after the other."""
        records = self._lab.trace()
        mine = (records["unit"] == self._unit) & (records["event"] == TraceEvent.WORK_START) & (records["time"] > since)
        begin, told = (records["time"][mine & (records["argument"] == path)] for path in self._paths)
        return [(int(b) - int(a)) / 1e6 for a, b in zip(begin, told, strict=True)]
