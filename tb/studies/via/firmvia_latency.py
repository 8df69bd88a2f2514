"""How long does a VIA message take from process to process, and where does the time go?

Strategy (paper 001, 3.3.2): two processes on two hosts send one message back and forth in page-aligned buffers. Each
posts its next receive while its message is in flight, and polls the status of the previous one. Half of a round trip is
the one-way time. It is the mean over the repetitions of a size, which begin at random phases of all polling loops. The
host's part is the time of the posting call at 16 bytes (readings A2). The stages of Figure 3.4 are intervals between
trace records of one message. So are the parts of the host's call (Table 3.2): before the kernel, in the kernel, and its
stores to the NIC.
"""

from __future__ import annotations

import statistics

import numpy as np
from numpy.typing import NDArray

from firmware.via.formats import Status
from firmware.via.host import Vi
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_together
from tb.studies.kit.payload import pattern
from tb.studies.kit.rounds import phases, round_trips
from tb.studies.via._via import User, connect, stages, user

LAYER = "via"
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
STAGED = (4, 16, 128, 1024)
"""Sizes in bytes whose stages are recorded."""
HOST_AT = 16
OPTIONS = {
    "repetitions": Option(6, "round trips of each size", 2, 100_000),
    "largest": Option(4096, "largest message in bytes", 4, 1 << 16, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=2 largest=1024"
TINY = "repetitions=2 largest=16 via.preset=hwvia via.vis=4"


class End:
    """Process of the pair: sends from the start of its memory, receives into a separate page."""

    def __init__(self, owner: User, vi: Vi) -> None:
        self.user, self.vi = owner, vi
        self._count = 0

    async def ready(self, size: int) -> None:
        """Post the next receive."""
        self._count += 1
        place = self.user.descriptor(2 + self._count % 4)
        await self.vi.post_receive(place.receive([self.user.part(1 << 16, size)]))

    async def send(self, size: int) -> None:
        """Post a send."""
        if len(self.vi.sends) > 1:
            await self.vi.send_done()
        self._count += 1
        place = self.user.descriptor(self._count % 2)
        await self.vi.post_send(place.send([self.user.part(0, size)]))


async def run(lab: Lab) -> None:
    """Run the study."""
    vias = lab.start_layer(LAYER)
    await start_together(lab, vias)
    near, far = await user(vias[0]), await user(vias[-1])
    mine, yours = await connect(near, far, len(vias) - 1)
    here, there = End(near, mine), End(far, yours)
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    medians = []
    for done, size in enumerate(sizes):
        medians.append(await _size(lab, here, there, size))
        lab.progress(done + 1, len(sizes), "sizes")
    curve(lab, "one_way", sizes, medians, "B", "us", "one_way_us_{}B")


async def _size(lab: Lab, here: End, there: End, size: int) -> float:
    """Return the one-way time of a message size in us."""
    data = pattern(size)
    here.user.write(0, data)
    there.user.write(0, data[::-1])
    await here.ready(size)
    await there.ready(size)

    async def ask(number: int) -> None:
        await here.send(size)
        await here.ready(size)
        received = await here.vi.poll_receive()
        lab.check(
            "status of the receive",
            received.status == Status.DONE | Status.RECEIVE,
            f"{size} B: status {received.status!r}",
        )

    async def answer() -> None:
        await there.vi.poll_receive()
        await there.send(size)
        await there.ready(size)

    trips = await round_trips(lab, lab.option("repetitions"), ask, answer, pause=phases(f"{lab.seed} {size}"))
    lab.check(
        "received bytes", there.user.read(1 << 16, size) == data, f"{size} bytes arrived corrupted at the far process"
    )
    lab.check("returned bytes", here.user.read(1 << 16, size) == data[::-1], f"{size} bytes returned corrupted")
    await _clear(here, there)
    if size in STAGED:
        trace = lab.trace()
        _hand_in(lab, size, stages(trace, 0, len(lab.running.hosts) - 1, trips.begun[-1]))
        if size == HOST_AT:
            _host_parts(lab, trace[trace["time"] >= trips.begun[-1]])
    return statistics.mean(trips.took) / 2e6


async def _clear(here: End, there: End) -> None:
    """Consume the receives that are still posted."""
    await here.send(4)
    await there.vi.poll_receive()
    await there.send(4)
    await here.vi.poll_receive()
    for end in (here, there):
        while len(end.vi.sends):
            await end.vi.poll_send()


def _hand_in(lab: Lab, size: int, found: dict[str, float]) -> None:
    """Record the stages of a size in us."""
    for number, (name, us) in enumerate(found.items()):
        lab.metric(f"stage_us_{size}B_{number}_{name}", us)
    if found:
        lab.metric(f"stage_us_{size}B_sum", sum(found.values()))
    if size == HOST_AT and found:
        lab.metric("host_us", found["host"])


def _host_parts(lab: Lab, late: NDArray[np.void]) -> None:
    """Record the parts of the first posting call, if it enters the kernel, in us."""
    mine = late[late["unit"] == unit(0, Part.HOST_CPU)]
    number = lab.running.paths.known("via/host", "post_send")

    def times(event: TraceEvent) -> NDArray[np.int64]:
        found: NDArray[np.int64] = mine["time"][mine["event"] == event].astype(np.int64)
        return found

    kernel = mine["time"][(mine["event"] == TraceEvent.SPEND_START) & (mine["argument"] == number)]
    if not len(kernel):
        return
    call, back = int(times(TraceEvent.SEND_CALL)[0]), int(times(TraceEvent.SEND_RETURN)[0])
    done = times(TraceEvent.SPEND_END)
    done = done[(done > int(kernel[0])) & (done <= back)]
    entry = 1000 * lab.plan.profile.integer("host.kernel_entry_ns")
    lab.metric("host_user_us", (int(kernel[0]) - call - entry) / 1e6)
    lab.metric("host_kernel_us", (int(done[-1]) - int(kernel[0])) / 1e6)
    lab.metric("host_pio_us", (back - int(done[-1])) / 1e6)
