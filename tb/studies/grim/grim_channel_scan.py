"""How long does the NI search its logical channels for new messages, and how many channels can it afford?

Strategy: the firmware's own search of the last 1, 8, ..., 32 of its channels, all empty, between two reads of RTC, as
in paper 000, 4.3.4. The trace has the same interval to the picosecond: from the first instruction behind the one read
of RTC to the end of the other. Then the same search while messages come in and the host stores into the SRAM: network
and I/O bus go before the processor, so it takes longer. The limit follows as in the paper: a search may take half of
the least latency of the message layers of the time. Metrics name the NIC's clock: that of the paper's LANai 9 is
not published, so it is also run at 100 MHz.
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
"""The suggested number of channels is a multiple of it; the number itself is handed in too."""
OPTIONS = {
    "latency": Option(10, "us that a message takes at least: half of it may go to a search", 1, 1000),
    "times": Option(64, "searches timed of each number of channels", 1, 10_000),
    "disturbed": Option(64, "searches timed while messages come in", 1, 10_000),
    "stream": Option(100_000, "bytes that come in during the disturbed searches", 4096, 1 << 24, unit="bytes"),
}
QUICK = "times=16 disturbed=16"
VARIANTS = {"100MHz": ("", "clock.nic_ps=10000")}
SIZES = (512, 8192)
"""The disturbing messages have at least so many bytes, and less than so many."""
STORES = 1024
"""Bytes that the host stores at a time."""
TICK_US = 0.5
LOOK_PS = 400_000_000
"""Between two looks of the host at the word of the NI: a look is an access to SRAM."""


async def run(lab: Lab) -> None:
    """The study."""
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
    lab.check(max(disturbed) > traced[-1], f"DMA did not lengthen the search: {max(disturbed)} us")


def _hand_in(lab: Lab, nic: str, traced: list[float], by_rtc: list[float]) -> None:
    """Metrics and curves from microseconds, by COUNTS."""
    for count, us, rtc_us in zip(COUNTS, traced, by_rtc, strict=True):
        lab.metric(f"scan_us_{nic}_{count}", us)
        lab.metric(f"scan_rtc_us_{nic}_{count}", rtc_us)
        lab.check(abs(us - rtc_us) <= TICK_US, f"{count} channels: {us} us in the trace, {rtc_us} us by RTC")
    lab.series("scan", COUNTS, traced, "channels", "us")
    lab.series("scan_by_rtc", COUNTS, by_rtc, "channels", "us")
    slope = (traced[-1] - traced[0]) / (MOST - 1)
    lab.metric(f"scan_us_per_channel_{nic}", slope)
    channels = (lab.option("latency") / 2 - traced[0]) / slope + 1
    lab.metric(f"channels_within_half_of_{lab.option('latency')}us_raw_{nic}", channels)
    lab.metric(f"channels_within_half_of_{lab.option('latency')}us_{nic}", int(channels) // STEP * STEP)


async def _disturbed(lab: Lab, timer: _Timer, libraries: list[Any], arrived: list[int]) -> list[float]:
    """Searches while messages come in and the host stores into the SRAM.

    The sizes are random, so that no rhythm of theirs avoids the search. The stores go to the queue of the last channel,
    whose back pointer stands still: the search does not meet them.
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
    lab.check(arrived == sizes, f"{arrived} bytes arrived instead of {sizes}")
    return durations


def _sizes(lab: Lab) -> list[int]:
    """Sizes of messages, by seed, that together have the bytes of the option `stream` at least."""
    rng, sizes = random.Random(lab.seed), [0]
    while sum(sizes) < lab.option("stream"):
        sizes.append(rng.randrange(*SIZES))
    return sizes[1:]


class _Timer:
    """The host's request for timed searches, and what the trace says of them."""

    def __init__(self, lab: Lab, library: Any) -> None:
        self._lab, self._host = lab, library.host
        self._unit = unit(0, Part.NIC_CPU)
        self._paths = [lab.running.paths.known("grim/nic", path) for path in ("search_begin", "search_told")]

    async def search(self, count: int, times: int) -> tuple[list[float], float]:
        """`times` searches of `count` channels: durations by the trace in us, and their mean by RTC."""
        host, begun = self._host, self._lab.kernel.now
        ticks = await host.pio_read(host.nic_base + Word.TICKS)
        await host.pio_write(host.nic_base + Word.SEARCH, struct.pack(">2H", count, times))
        while await host.pio_read(host.nic_base + Word.SEARCH):
            await self._lab.kernel.sleep(LOOK_PS, "the end of the searches")
        mean = (await host.pio_read(host.nic_base + Word.TICKS) - ticks) * TICK_US / times
        return self._traced(begun), mean

    def _traced(self, since: int) -> list[float]:
        """From the work behind the one read of RTC to the work behind the other, us."""
        records = self._lab.trace()
        mine = (records["unit"] == self._unit) & (records["event"] == TraceEvent.WORK_START) & (records["time"] > since)
        begin, told = (records["time"][mine & (records["argument"] == path)] for path in self._paths)
        return [(int(b) - int(a)) / 1e6 for a, b in zip(begin, told, strict=True)]
