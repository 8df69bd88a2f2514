"""What do the three versions of MPI over LAPI cost compared with LAPI itself (paper 001, 6.4)?

Strategy: the first and the last host exchange a message with each version. Half of a round trip is the one-way time,
the median of the repetitions. Before that LAPI does the same alone, by `Put` and `Waitcntr`. The completion handlers on
LAPI's threads and the context switches of both hosts are counted per MPI message. All data are compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable

from firmware.lapi.host import Lapi
from firmware.mpi.host import Mpi
from firmware.mpi.host.lapi_versions import VERSIONS
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import together
from tb.studies.kit.payload import pattern
from tb.studies.kit.rounds import Trips, round_trips

LAYER = "mpi"
CLUSTER = "sp_board"
SIZES = (4, 256, 4095, 4096, 16384)
OPTIONS = {
    "repetitions": Option(1, "round trips of each size", 1, 100_000),
    "largest": Option(256, "most bytes of a message", SIZES[0], SIZES[-1], unit="bytes"),
    **stack_options("lapi"),
    f"{LAYER}.on": Option("lapi", "what mpi stands on", choices=("lapi",)),
}
VARIANTS = {"ppc604": ("sp+ppc604-332", "repetitions=3 largest=4096")}
"""The paper's nodes, on both sides of the eager limit."""
EAGER_LIMIT = 4096
ALIKE = 0.05
"""Largest relative difference at which counters and enhanced count as equal (ours)."""
Part = Callable[[bytes], Awaitable[None]]


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    tasks: list[Lapi] = lab.start_layer("lapi")
    found = {"lapi": await _by_put(lab, tasks, sizes)}
    for version in VERSIONS:
        ranks: list[Mpi] = lab.start_layer(LAYER, {"version": version})
        await together(lab, "MPI_Init", [one.Init() for one in ranks])
        found[version] = await _by_mpi(lab, version, ranks, sizes)
        await together(lab, "MPI_Finalize", [one.Finalize() for one in ranks])
    for name, times in found.items():
        curve(lab, name, sizes, times, "B", "us", f"us_{name}_{{}}B")
    _tell_orders(lab, [dict(zip(found, times, strict=True)) for times in zip(*found.values(), strict=True)], sizes)


def _tell_orders(lab: Lab, found: list[dict[str, float]], sizes: list[int]) -> None:
    """Record at how many sizes the versions are not in the expected order. `found` holds us by name and size."""
    eager = [us for size, us in zip(sizes, found, strict=True) if size < EAGER_LIMIT]
    lab.metric("sizes_enhanced_not_between", sum(not us["lapi"] < us["enhanced"] < us["base"] for us in found))
    lab.metric("sizes_counters_not_below_base", sum(us["counters"] >= us["base"] for us in eager))
    lab.metric("sizes_counters_unlike_enhanced", sum(not _alike(us["counters"], us["enhanced"]) for us in eager))
    lab.metric("sizes_enhanced_nearer_base", sum(2 * us["enhanced"] >= us["lapi"] + us["base"] for us in found))


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= ALIKE * other


def _counts(*ends: Mpi) -> tuple[int, int]:
    """Return the numbers of context switches and of completion handlers that have run."""
    lapis = [end.below for end in ends]
    return sum(one.process.host.scheduler.switches for one in lapis), sum(one.thread.runs for one in lapis)


async def _by_put(lab: Lab, tasks: list[Lapi], sizes: list[int]) -> list[float]:
    """Return the one-way times of LAPI alone, us."""
    await together(lab, "LAPI_Init", [one.Init() for one in tasks])
    near, far = tasks[0], tasks[-1]
    out, into, counter = (_same(near, far) for _ in range(3))

    def send(lapi: Lapi, other: Lapi) -> Part:
        async def put(data: bytes) -> None:
            lapi.process.store_bytes(out, data)
            await lapi.Put(other.me, len(data), into, out, tgt_cntr=counter)

        return put

    def receive(lapi: Lapi) -> Part:
        async def wait(data: bytes) -> None:
            await lapi.Waitcntr(counter, 1)
            lab.check(
                "bytes by LAPI",
                lapi.process.load_bytes(into, len(data)) == data,
                f"{len(data)} bytes arrived corrupted",
            )

        return wait

    times = await _back_and_forth(lab, sizes, (send(near, far), receive(near)), (send(far, near), receive(far)))
    await together(lab, "LAPI_Term", [one.Term() for one in tasks])
    return times


def _same(near: Lapi, far: Lapi) -> int:
    """Return the address of memory that is the same in both tasks, which have made the same allocations."""
    addresses = {one.process.allocate(SIZES[-1]) for one in (near, far)}
    (address,) = addresses
    return address


async def _by_mpi(lab: Lab, version: str, ranks: list[Mpi], sizes: list[int]) -> list[float]:
    """Return the one-way times of a version, us, and record its cost per message."""

    def parts(mpi: Mpi, other: int) -> tuple[Part, Part]:
        async def send(data: bytes) -> None:
            await mpi.COMM_WORLD.Send(data, other)

        async def receive(data: bytes) -> None:
            room = bytearray(len(data))
            await mpi.COMM_WORLD.Recv(room, other)
            lab.check("bytes by MPI", room == data, f"{len(data)} bytes arrived corrupted")

        return send, receive

    near, far = ranks[0], ranks[-1]
    counts = list[tuple[int, int]]()
    times = await _back_and_forth(
        lab, sizes, parts(near, far.engine.rank), parts(far, 0), lambda: counts.append(_counts(near, far))
    )
    (switches, handlers), (switched, handled) = counts
    messages = 2 * lab.option("repetitions") * len(sizes)
    lab.metric(f"switches_a_message_{version}", (switched - switches) / messages)
    lab.metric(f"handlers_a_message_{version}", (handled - handlers) / messages)
    return times


async def _back_and_forth(
    lab: Lab,
    sizes: list[int],
    near: tuple[Part, Part],
    far: tuple[Part, Part],
    count: Callable[[], None] = lambda: None,
) -> list[float]:
    """Return the one-way times of the sizes, us. `count` is called when both ends have the CPU of their host, and at
    the end.
    """
    medians, repetitions = list[float](), lab.option("repetitions")
    sequence = [sizes[0], *(size for size in sizes for _ in range(repetitions))]

    async def trips(size: int, repetitions: int) -> Trips:
        async def ask(number: int) -> None:
            await near[0](pattern(size))
            await near[1](pattern(size))

        return await round_trips(lab, repetitions, ask)

    async def measure() -> None:
        await trips(sizes[0], 1)
        count()
        for size in sizes:
            medians.append(statistics.median((await trips(size, repetitions)).one_way_us))
        count()

    async def answer() -> None:
        for size in sequence:
            await far[1](pattern(size))
            await far[0](pattern(size))

    await together(lab, "end", [measure(), answer()])
    return medians
