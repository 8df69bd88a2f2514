"""Measurements between the first and the last rank: round trips, and messages back to back (paper 001, 6.5)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.random import default_rng

from firmware.mpi.host import Mpi, Request
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit import rounds
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import together

STACKS: Mapping[str, str] = MappingProxyType({"native": "pipes", "lapi": "lapi"})
"""Layer below MPI, by the name of the stack in the paper.

LAPI comes last: it leaves HAL's interrupts enabled to answer retransmissions, which would slow Pipes down.
"""
OF_BOTH_STACKS: Mapping[str, Option] = MappingProxyType(
    {
        **stack_options("lapi"),
        **stack_options("pipes"),
        "mpi.on": Option("lapi", "what mpi stands on first", choices=("lapi",)),
    }
)
"""Options of a study on both stacks."""
REST_PS = 20_000_000_000
"""Pause between two stacks, ps: Pipes processes packets until none has arrived for some time-outs."""
Found = TypeVar("Found")
Measure = Callable[[Lab, Mpi, Any], Coroutine[Any, Any, float]]
"""Function of a message's data that both ranks run; the first rank's result counts."""


async def on_both_stacks(lab: Lab, program: Callable[[Mpi], Coroutine[Any, Any, Found]]) -> dict[str, Found]:
    """Run a program on every rank, on one stack after the other. Return the first rank's results by stack."""
    found = {}
    for name, on in STACKS.items():
        ranks = lab.start_layer("mpi", {"on": on})
        found[name] = (await together(lab, f"{name} rank", [program(mpi) for mpi in ranks]))[0]
        await lab.kernel.sleep(REST_PS, "the end of what a stack leaves behind")
    return found


async def of_both_stacks(lab: Lab, sizes: Sequence[int], measure: Measure) -> dict[str, list[float]]:
    """Return the measurements of each size, by stack."""
    return await on_both_stacks(lab, lambda mpi: _rank(lab, mpi, sizes, measure))


def tell(lab: Lab, sizes: Sequence[int], found: Mapping[str, Sequence[float]], name: str, unit: str) -> None:
    """Record series and metrics `<name>_<stack>_<size>B` of measurements by stack and size."""
    for stack, values in found.items():
        curve(lab, stack, sizes, values, "B", unit, f"{name}_{stack}_{{}}B")


async def _rank(lab: Lab, mpi: Mpi, sizes: Sequence[int], measure: Measure) -> list[float]:
    await mpi.Init()
    comm, found = mpi.COMM_WORLD, list[float]()
    for size in sizes:
        await comm.Barrier()
        if comm.Get_rank() in (0, comm.Get_size() - 1):
            found.append(await measure(lab, mpi, default_rng(size).integers(0, 256, size, dtype=np.uint8)))
    await mpi.Finalize()
    return found


async def round_trips(lab: Lab, mpi: Mpi, data: Any, repetitions: int) -> float:
    """Return the median one-way time, us."""
    comm, room = mpi.COMM_WORLD, np.zeros_like(data)

    async def trip(number: int) -> None:
        if comm.Get_rank() == 0:
            await comm.Send(data, comm.Get_size() - 1)
            await comm.Recv(room, comm.Get_size() - 1)
        else:
            await comm.Recv(room, 0)
            await comm.Send(room, 0)
        lab.check("returned bytes", bool((room == data).all()), f"{len(data)} bytes arrived corrupted")

    return statistics.median((await rounds.round_trips(lab, repetitions, trip, messages=1)).one_way_us)


async def stream(lab: Lab, mpi: Mpi, data: Any, count: int) -> float:
    """Return the MB/s of messages back to back; 0 on the last rank."""
    comm, nothing = mpi.COMM_WORLD, np.zeros(0, np.uint8)
    rooms = [np.zeros_like(data) for _ in range(count)]
    if comm.Get_rank():
        receives = [await comm.Irecv(room, 0) for room in rooms]
        await comm.Send(nothing, 0)  # the receives are posted
        await Request.Waitall(receives)
        await comm.Send(nothing, 0)
        lab.check(
            "bytes back to back",
            all((room == data).all() for room in rooms),
            f"{len(data)} bytes back to back arrived corrupted",
        )
        return 0.0
    other = comm.Get_size() - 1
    await comm.Recv(nothing, other)
    begun = mpi.host.now
    await Request.Waitall([await comm.Isend(data, other) for _ in range(count)])
    await comm.Recv(nothing, other)
    lab.findings.messages += count
    return count * len(data) / (mpi.host.now - begun) * 1e6
