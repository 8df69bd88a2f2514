"""What is the bandwidth through a pipe and past it, and what do losses and slow routes cost?

Strategy: the first and the last host write a few bytes back and forth; half of a round trip is the one-way time. Then
the first host writes a stream, in writes of one size, and the last host reads it. Bandwidth is bytes over the time
until all are read. The same past the pipe, to a consumer. All bytes are compared; retransmissions and duplicates are
counted.
"""

from __future__ import annotations

import statistics

from firmware.pipes.host import Pipes
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn, together
from tb.studies.kit.rounds import Trips, round_trips
from tb.studies.kit.steady import faster, tell_steady

LAYER = "pipes"
CLUSTER = "sp_board"
SHORT = (4, 64, 1000)
ENOUGH = 120_000
"""Bytes after which the bandwidth of a stream has converged."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "bytes": Option(ENOUGH, "bytes of a stream", 1, 1 << 30, unit="bytes"),
    "write": Option(8000, "bytes of a write", 1, 1 << 20, unit="bytes"),
    **stack_options(LAYER),
}
QUICK = "repetitions=2 bytes=20000"


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = lab.start_layer(LAYER)
    await start_in_turn(ends)
    near, far = ends[0], ends[-1]
    times = [await _round_trips(lab, near, far, size) for size in SHORT]
    curve(lab, "one_way", SHORT, times, "B", "us", "one_way_us_{}B")
    late = []
    for name, direct in (("pipe", False), ("direct", True)):
        rate, percent = await _stream(lab, near, far, direct)
        lab.metric(f"stream_MBps_{name}", rate)
        late.append(percent)
    tell_steady(lab, late, lab.option("bytes") >= ENOUGH)
    lab.metric("resent", sum(end.resent for end in ends))
    lab.metric("doubled", sum(end.doubled for end in ends))


def pattern(size: int) -> bytes:
    """Return the bytes of a stream."""
    return bytes((7 * at + (at >> 8) * 13 + (at >> 16)) & 0xFF for at in range(size))


async def _round_trips(lab: Lab, near: Pipes, far: Pipes, size: int) -> float:
    """Return the median one-way time, us."""
    count, data = lab.option("repetitions"), pattern(size)

    async def echo() -> None:
        for _ in range(count):
            await far.write(near.me, await far.read(near.me, size))

    async def ask(number: int) -> None:
        await near.write(far.me, data)
        lab.check("returned bytes", await near.read(far.me, size) == data, f"{size} bytes returned corrupted")

    measuring, echoes = lab.spawn(round_trips(lab, count, ask), "the near host"), lab.spawn(echo(), "the far host")
    trips: Trips = (await lab.all([measuring, echoes]))[0]
    await _settle(lab, near, far)
    return statistics.median(trips.one_way_us)


async def _settle(lab: Lab, near: Pipes, far: Pipes) -> None:
    """Wait until everything is acknowledged."""
    await together(lab, "acknowledgements of end", [near.finish(), far.finish()])


async def _stream(lab: Lab, near: Pipes, far: Pipes, direct: bool) -> tuple[float, float]:
    """Return the MB/s, and by how many percent the second half of the bytes was faster than the whole."""
    data, size = pattern(lab.option("bytes")), lab.option("write")
    came, ends, halves = bytearray(), list[int](), list[tuple[int, int]]()

    def have_come(data: bytes | memoryview) -> None:
        came.extend(data)
        if 2 * len(came) >= lab.option("bytes") and not halves:
            halves.append((len(came), lab.kernel.now))

    async def take(node: int, view: memoryview) -> None:
        have_come(view)

    async def give() -> None:
        for at in range(0, len(data), size):
            await near.write(far.me, data[at : at + size], direct)
            lab.findings.messages += 1
        await near.flush()

    async def have() -> None:
        while not direct and len(came) < len(data):
            have_come(await far.read(near.me, min(size, len(data) - len(came))))
        await far.wait(lambda: len(came) == len(data))
        ends.append(lab.kernel.now)
        await far.finish()

    far.on_bytes(take if direct else None)
    begun = lab.kernel.now
    await together(lab, "end", [give(), have()])
    lab.check(
        "bytes of the stream",
        came == data,
        f"the stream {'past the pipe' if direct else 'through the pipe'} arrived corrupted",
    )
    (early, at), ended = halves[0], ends[0]
    late = faster(early / len(data), at, ended, begun, ended)
    return len(data) / (ended - begun) * 1e6, late
