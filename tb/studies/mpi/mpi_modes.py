"""What do the four send modes of MPI cost, with a posted receive and with a late one?

Strategy: messages on both sides of the eager limit go from the first to the last rank. Posted: the receive has been
waiting; the one-way time is from the call of the send to the return of the receive. Early: the receive is called long
after an eager message has arrived; the time is that of the receive alone. Of a synchronous message only the request has
arrived by then.
"""

from __future__ import annotations

import statistics

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.hosts import together

LAYER = "mpi"
MODES = {"standard": "Send", "buffered": "Bsend", "ready": "Rsend", "synchronous": "Ssend"}
SIZES = (64, 4095, 4096)
LONG_PS = 2_000_000_000
"""Time after which started operations have progressed as far as possible, ps."""
OPTIONS = {
    "repetitions": Option(3, "messages of each mode and size", 1, 100_000),
    **stack_options(LAYER),
}
QUICK = "repetitions=1"


async def run(lab: Lab) -> None:
    """Run the study."""
    ranks = lab.start_layer(LAYER)
    times: dict[str, list[int]] = {}
    await together(lab, "rank", [_rank(lab, mpi, times) for mpi in ranks])
    for name, measured in times.items():
        lab.metric(name, statistics.median(measured) / 1e6)


async def _rank(lab: Lab, mpi: Mpi, times: dict[str, list[int]]) -> None:
    """Run the program of a rank; only the first and the last one act."""
    await mpi.Init()
    comm = mpi.COMM_WORLD
    mpi.Attach_buffer(2 * max(SIZES))
    for mode in MODES:
        for size in SIZES:
            for _ in range(lab.option("repetitions")):
                await comm.Barrier()
                await _posted(lab, mpi, mode, size, times.setdefault(f"posted_{mode}_us_{size}B", []))
                if mode != "ready":  # which has to find its receive
                    await comm.Barrier()
                    await _early(lab, mpi, mode, size, times.setdefault(f"early_{mode}_us_{size}B", []))
    await mpi.Detach_buffer()
    await mpi.Finalize()


async def _posted(lab: Lab, mpi: Mpi, mode: str, size: int, times: list[int]) -> None:
    """Measure one message to a waiting receive; each end adds its part of the time."""
    comm, data = mpi.COMM_WORLD, np.arange(size, dtype=np.uint8)
    if comm.Get_rank() == 0:
        await mpi.host.sleep(LONG_PS, "the receive to be posted")
        times.append(-mpi.host.now)
        await getattr(comm, MODES[mode])(data, comm.Get_size() - 1)
    elif comm.Get_rank() == comm.Get_size() - 1:
        await _received(lab, mpi, data)
        times[-1] += mpi.host.now


async def _early(lab: Lab, mpi: Mpi, mode: str, size: int, times: list[int]) -> None:
    """Measure one message whose receive is late, with the message or its request queued."""
    comm, data = mpi.COMM_WORLD, np.arange(size, dtype=np.uint8)
    if comm.Get_rank() == 0:
        await getattr(comm, MODES[mode])(data, comm.Get_size() - 1)
    elif comm.Get_rank() == comm.Get_size() - 1:
        await mpi.host.sleep(LONG_PS, "the message to come")
        await comm.Iprobe()
        begun = mpi.host.now
        await _received(lab, mpi, data)
        times.append(mpi.host.now - begun)


async def _received(lab: Lab, mpi: Mpi, data: NDArray[np.uint8]) -> None:
    room = np.zeros_like(data)
    await mpi.COMM_WORLD.Recv(room, 0)
    lab.check("received bytes", bool((room == data).all()), f"{len(data)} bytes arrived corrupted")
    lab.findings.messages += 1
