"""Up to which length is a descriptor cheaper to write by the host than to fetch by the NIC, alone and in a message?

Strategy (paper 001, 2.3.2): two times are measured over the number of words. The first is the time until words that the
host stores one by one are in the NIC's memory. The second is the time of a DMA of as many words into the NIC. Two
break-even points are reported: against the start-up of the DMA alone, as in the paper, and with the transfer of the
words. Then pairs of hosts differ only in how the NIC gets its descriptors; messages of more data segments have longer
ones.
"""

from __future__ import annotations

import statistics

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.engines import SCRATCH, engines
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import cheaper_up_to, slope
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import LINUX, NETFINITY, SMALL, pairs, stock
from tb.studies.via._via_rounds import latency

LAYER = "via"
CLUSTER = "eight_hosts"
WORDS = tuple(range(1, 17))
SEGMENTS = (1, 2, 4)
SIZE = 64
CHOICES: dict[str, dict[str, float | str]] = {
    choice: {"doorbell": "d1_ring", "translation": "at2", "descriptors": choice}
    for choice in ("pio", "dma", "prefetch")
}
SPARE = 2
"""Number of hosts without VIA, on the first of which the stores and DMA are measured."""
OPTIONS = {
    "rounds": Option(8, "round trips of each point", 2, 100_000),
    **layer_options(LAYER),
}
QUICK = "rounds=3"


async def run(lab: Lab) -> None:
    """Run the study."""
    total = len(WORDS) + len(CHOICES)
    stored, fetched = [], []
    for done, count in enumerate(WORDS):
        stored.append(await _stores(lab, count))
        fetched.append(await _fetch(lab, 4 * count))
        lab.progress(done + 1, total, "points")
    lab.series("host_stores", WORDS, stored, "words", "us")
    lab.series("dma", WORDS, fetched, "words", "us")
    word = slope(WORDS, stored)
    lab.metric("pio_us_per_word", word)
    lab.metric("dma_start_us", fetched[0])
    lab.metric("words_by_start_up", fetched[0] // word)
    lab.metric("words_with_transfer", cheaper_up_to(WORDS, stored, fetched))
    if stock(lab, NETFINITY) or stock(lab, LINUX):
        ordered = stored[0] < fetched[0] and stored[-1] > fetched[-1]
        lab.check(
            "cost of words by stores", ordered, "few words do not cost less by the host's stores, or many words do"
        )
    for done, (choice, (near, far)) in enumerate((await pairs(lab, CHOICES, {"inline": 0, **SMALL}, SPARE)).items()):
        cases = [Case(SIZE, segments=segments) for segments in SEGMENTS]
        times = [(await latency(near, far, case, lab.option("rounds"))).value for case in cases]
        metric = f"one_way_us_{choice}_{{}}_segments"
        curve(lab, f"one_way_{choice}", SEGMENTS, times, "data segments", "us", metric)
        lab.progress(len(WORDS) + done + 1, total, "points")


async def _stores(lab: Lab, words: int) -> float:
    """Return the time until `words` stored words are in the NIC's memory: stores and a load after them, less the load
    alone.
    """
    host = lab.running.hosts[0]
    at = host.nic_base + SCRATCH
    times = []
    for count in (words, 0):
        await lab.kernel.sleep(5_000_000)
        begun = lab.kernel.now
        if count:
            await host.pio_write(at, bytes(4 * count))
        await host.pio_read(at)
        times.append(lab.kernel.now - begun)
    return (times[0] - times[1]) / 1e6


async def _fetch(lab: Lab, size: int) -> float:
    """Return the median time in us of a DMA of `size` bytes into the NIC, from the write that starts it to its end."""
    address = lab.running.hosts[0].allocate(4096).address
    took = [await engines(lab).transfer(size, address, to_nic=True) for _ in range(lab.option("rounds"))]
    return statistics.median(took) / 1e6
