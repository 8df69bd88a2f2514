"""How long does an MPI message take over LAPI and natively when packets interrupt the receiver (paper 001, 6.5.1)?

Strategy: the first and the last rank exchange one message. Each has posted its receive and reads its buffer in a loop,
without an MPI call, until the message is there; HAL's interrupt routine processes the packets. Then it replies. Half of
a round trip is the one-way time, the median of the repetitions. The routine of the native stack waits for further
packets. So its shortest message is timed for several such delays, and all sizes with the default delay. LAPI's does not
wait. Every message is compared. The paper's nodes are `PROFILE=sp+ppc604-332`.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from firmware.lapi.host import Lapi, Query
from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.findings import curve
from tb.studies.kit.rounds import round_trips
from tb.studies.mpi._mpi_ends import of_both_stacks, tell

LAYER = "mpi"
CLUSTER = "sp_board"
SIZES = (4, 64, 256, 1024, 4095)
"""Sizes of eager messages; a rank that makes no call permits no others."""
DELAYS_US = (1, 5, 10, 20, 35, 70, 100)
OPTIONS = {
    "repetitions": Option(2, "round trips of each size and delay", 1, 100_000),
    "largest": Option(256, "largest message in bytes", SIZES[0], SIZES[-1], unit="bytes"),
    **stack_options("lapi"),
    **stack_options("pipes"),
    f"{LAYER}.on": Option("lapi", "what mpi stands on first", choices=("lapi",)),
}
QUICK = "repetitions=1 largest=64"
VARIANTS = {"ppc604": ("sp+ppc604-332", "repetitions=15 largest=4095")}
"""The paper's nodes."""
LOOKS = 8
"""Reads of the buffer in one computation."""
TAG, READY = 1, 2
AHEAD = 2
"""Receives posted before the first message, so that the next is posted when a message is answered."""


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    delayed = list[float]()

    async def measure(lab: Lab, mpi: Mpi, data: Any) -> float:
        if isinstance(mpi.below, Lapi):
            await mpi.below.Senv(Query.INTERRUPT_SET, 1)
            return await _one_way(lab, mpi, data)
        for delay_us in DELAYS_US if len(data) == sizes[0] else ():
            await mpi.below.interrupts(True, delay_us)
            us = await _one_way(lab, mpi, data)
            if mpi.COMM_WORLD.Get_rank() == 0:
                delayed.append(us)
        await mpi.below.interrupts(True)
        return await _one_way(lab, mpi, data)

    found = await of_both_stacks(lab, sizes, measure)
    tell(lab, sizes, found, "us", "us")
    pairs = list(zip(sizes, found["lapi"], found["native"], strict=True))
    for size, lapi, native in pairs:
        lab.metric(f"gain_percent_{size}B", 100 * (1 - lapi / native))
    lab.metric("sizes_native_ahead", sum(native <= lapi for _, lapi, native in pairs))
    gains = [100 * (1 - found["lapi"][0] / us) for us in delayed]
    curve(lab, "gain over the delay", DELAYS_US, gains, "us", "%", f"gain_percent_{sizes[0]}B_{{}}us")


async def _one_way(lab: Lab, mpi: Mpi, data: Any) -> float:
    """Return the median one-way time, us."""
    comm, first = mpi.COMM_WORLD, mpi.COMM_WORLD.Get_rank() == 0
    other = comm.Get_size() - 1 if first else 0
    rooms = [data ^ 0xFF for _ in range(AHEAD)]
    receives = [await comm.Irecv(room, other, TAG) for room in rooms]
    await comm.Sendrecv(
        np.zeros(0, np.uint8), other, recvbuf=np.zeros(0, np.uint8), source=other, sendtag=READY, recvtag=READY
    )

    async def trip(number: int) -> None:
        if first:
            await comm.Send(data, other, TAG)
        await _look(mpi, rooms[number % AHEAD], data)

    async def settle(number: int) -> None:
        room = rooms[number % AHEAD]
        if not first:
            await comm.Send(room, other, TAG)
        await receives[number % AHEAD].Wait()
        lab.check("received bytes", bool((room == data).all()), f"{len(data)} bytes arrived corrupted")
        room[:] = data ^ 0xFF
        receives[number % AHEAD] = await comm.Irecv(room, other, TAG)

    trips = await round_trips(lab, lab.option("repetitions"), trip, settle=settle, messages=1)
    for receive in receives:
        receive.Cancel()
        await receive.Wait()
    return statistics.median(trips.one_way_us)


async def _look(mpi: Mpi, room: Any, data: Any) -> None:
    """Read a buffer until it holds a message."""
    while not (room == data).all():
        await mpi.host.compute("hal_look", LOOKS)
