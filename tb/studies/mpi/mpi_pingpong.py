"""How long does an MPI message take, and what is the bandwidth, for eager and rendezvous messages?

Strategy: the first and the last rank exchange one message with `Send` and `Recv`. Half of a round trip is the one-way
time, the median over the repetitions of a size. Then the first rank sends messages back to back with `Isend` to posted
receives, and the last one is answered: bandwidth is bytes over the time until the reply (paper 001, 6.5). Sizes are on
both sides of the eager limit. Every message is compared.
"""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import together
from tb.studies.mpi._mpi_ends import round_trips, stream

LAYER = "mpi"
SIZES = (0, 4, 64, 256, 1024, 4095, 4096, 16384, 65536)
OPTIONS = {
    "repetitions": Option(4, "round trips of each size", 1, 100_000),
    "messages": Option(8, "messages back to back", 1, 1000),
    "largest": Option(16384, "largest message in bytes", 0, 1 << 24, unit="bytes"),
    **stack_options(LAYER),
}
QUICK = "repetitions=2 messages=4 largest=4096"
TINY = "repetitions=1 messages=1 largest=40 mpi.eager_limit=32"


async def run(lab: Lab) -> None:
    """Run the study."""
    ranks = lab.start_layer(LAYER)
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    found = await together(lab, "rank", [_rank(lab, mpi, sizes) for mpi in ranks])
    one_way, rates = found[0]
    lab.metric("bandwidth_MBps_peak", max(rates))
    curve(lab, "one_way", sizes, one_way, "B", "us", "one_way_us_{}B")
    curve(lab, "bandwidth", sizes[1:], rates[1:], "B", "MB/s", "bandwidth_MBps_{}B")


async def _rank(lab: Lab, mpi: Mpi, sizes: list[int]) -> tuple[list[float], list[float]]:
    """Run the program of a rank: the first one measures one-way times in us and rates in MB/s with the last one."""
    await mpi.Init()
    comm = mpi.COMM_WORLD
    first, last = comm.Get_rank() == 0, comm.Get_rank() == comm.Get_size() - 1
    times, rates = [], []
    for done, size in enumerate(sizes):
        await comm.Barrier()
        if first or last:
            data = default_rng(size).integers(0, 256, size, dtype=np.uint8)
            times.append(await round_trips(lab, mpi, data, lab.option("repetitions")))
            rates.append(await stream(lab, mpi, data, lab.option("messages")))
        if first:
            lab.progress(done + 1, len(sizes), "sizes")
    await mpi.Finalize()
    return times, rates
