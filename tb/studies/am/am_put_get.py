"""How long do PUT and GET take, and how much of a GET does a computation hide?

Strategy: AM (paper 002). The first host puts bytes into the memory of the last host, whose program polls until the flag
is incremented. Then it gets them back and polls its own flag. Both times are medians over the repetitions of a size;
every byte is compared. A GET is a short request and a PUT in the other direction, so its time must be their sum. The
overlap is measured with a GET during which the first host computes for as long as the GET took alone.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am._am import NearFar
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn

if TYPE_CHECKING:
    from firmware.am.host import Am, Call

LAYER = "am"
SIZES = (0, 16, 64, 256, 1024, 4096, 16384, 65536)
OPTIONS = {
    "repetitions": Option(3, "PUTs and GETs of each size", 1, 100_000),
    "largest": Option(16384, "largest of them in bytes", 0, 65536, unit="bytes"),
    **layer_options(LAYER),
}
OFF_LAW = 0.1
"""Tolerated relative difference between a GET and the sum of a PUT and a short request."""
QUICK = "repetitions=1 largest=256"
TINY = "repetitions=1 largest=64"


class Program(NearFar):
    """Process on the first host and process on the last host."""

    def __init__(self, lab: Lab, layers: list[Am]) -> None:
        super().__init__(lab, layers, self.short)
        self.arrived = 0
        most = SIZES[-1]
        self.source, self.back = (self.near.host.allocate(most).address for _ in range(2))
        self.target = self.far.host.allocate(most).address
        self.flags = self.near.host.allocate(64).address, self.far.host.allocate(64).address
        self.counts = [0, 0]

    async def short(self, call: Call) -> None:
        """Handle a request without data."""
        self.arrived = self.lab.kernel.now

    async def serve(self) -> None:
        """Poll on the last host and record the time at which its flag is incremented."""
        while not self.over:
            flag, count = self.flags[1], self.counts[1]
            await self.far.until(lambda: self.over or self.far.host.load_words(flag, 1)[0] > count)  # noqa: B023
            if not self.over:
                self.counts[1] += 1
                self.arrived = self.lab.kernel.now

    async def put(self, size: int) -> float:
        """Return the microseconds until the far program sees the flag."""
        begun = self.lab.kernel.now
        await self.near.put(self.far.me, self.target, self.source, size, self.flags[1])
        await self.answered()
        return (self.arrived - begun) / 1e6

    async def one_short(self) -> float:
        """Return the microseconds until the handler of a request without data begins."""
        begun = self.lab.kernel.now
        await self.near.request(self.far.me, self.short)
        await self.answered()
        return (self.arrived - begun) / 1e6

    async def get(self, size: int, compute_ns: int = 0) -> float:
        """Return the microseconds until the first host sees its flag, after a computation of `compute_ns`."""
        begun = self.lab.kernel.now
        self.counts[0] += 1
        await self.near.get(self.far.me, self.target, self.back, size, self.flags[0])
        if compute_ns:
            await self.near.host.compute(compute_ns)
        await self.near.flag(self.flags[0], self.counts[0])
        ended = self.lab.kernel.now
        await self.answered()
        return (ended - begun) / 1e6


async def run(lab: Lab) -> None:
    """Run the study."""
    layers: list[Any] = lab.start_layer(LAYER)
    await start_in_turn(layers)
    program = Program(lab, layers)
    serving = lab.spawn(program.serve(), "the far program")
    shorts = [await program.one_short() for _ in range(lab.option("repetitions"))]
    lab.metric("short_us", statistics.median(shorts))
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    puts, gets = [], []
    for done, size in enumerate(sizes):
        put, get = await measure(lab, program, size)
        puts.append(put)
        gets.append(get)
        overlapped = await program.get(size, round(1000 * get))
        lab.metric(f"overlap_percent_{size}B", 100 * max(0.0, 2 * get - overlapped) / get)
        lab.progress(done + 1, len(sizes), "sizes")
    curve(lab, "put", sizes, puts, "B", "us", "put_us_{}B")
    curve(lab, "get", sizes, gets, "B", "us", "get_us_{}B")
    law = [abs(get / (put + statistics.median(shorts)) - 1) for put, get in zip(puts, gets, strict=True)]
    lab.metric("get_off_law_percent", 100 * max(law))
    lab.check(
        "time of a GET",
        max(law) <= OFF_LAW,
        f"a GET takes {100 * max(law):.1f} % more or less than a PUT and a short request",
    )
    await program.stop()
    await lab.all([serving])


async def measure(lab: Lab, program: Program, size: int) -> tuple[float, float]:
    """Return the medians of PUT and GET of a size in microseconds; compare the returned bytes."""
    puts, gets = [], []
    for number in range(lab.option("repetitions")):
        data = bytes((number + at) % 251 for at in range(size))
        program.near.host.store_bytes(program.source, data)
        puts.append(await program.put(size))
        gets.append(await program.get(size))
        came = program.near.host.load_bytes(program.back, size) if size else b""
        lab.check("returned bytes", came == data, f"{size} bytes were returned changed")
        lab.findings.messages += 2
    return statistics.median(puts), statistics.median(gets)
