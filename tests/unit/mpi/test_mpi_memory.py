"""Memory of MPI does not grow with the number of messages, over each layer.

Strategy: all objects reachable from a rank's library, down to the layer below, are walked. Their containers are counted
after some rounds of traffic and after three times as many. Traffic is of all kinds: eager, rendezvous, early, buffered,
with wildcards, freed requests, collectives. Buffers for messages in transit may stay at their largest size.
"""

from __future__ import annotations

import pytest

from firmware.mpi.host import Mpi, Request
from tests.unit.layers.memory_use import memory_use
from tests.unit.mpi.mpi_bench import World


async def traffic(mpi: Mpi, rank: int, rounds: int) -> None:
    """Send messages of all kinds between both ranks."""
    comm, other, room = mpi.COMM_WORLD, 1 - rank, bytearray(6000)
    for _ in range(rounds):
        await comm.Sendrecv(bytes(20), other, 1, room, other, 1)
        requests = [await comm.Irecv(room, tag=2), await comm.Isend(bytes(6000), other, 2)]
        await Request.Waitall(requests)
        await comm.Bsend(bytes(9), other, 3)
        (await comm.Isend(bytes(4), other, 4)).Free()
        await comm.Barrier()
        await comm.Recv(room, other, 4)
        await comm.Recv(room, other, 3)
    await comm.Barrier()


@pytest.mark.parametrize(("on", "nic"), [("grim", "lanai9"), ("via", "lanai9"), ("pipes", "sp"), ("lapi", "sp")])
def test_memory_of_a_rank_does_not_grow_with_messages(on: str, nic: str) -> None:
    async def program(mpi: Mpi, rank: int) -> list[int]:
        mpi.Attach_buffer(100)
        sizes = []
        for rounds in (25, 50):
            await traffic(mpi, rank, rounds)
            sizes.append(memory_use(mpi))
        return sizes

    for few, many in World(2, on, nic=nic).run(program):
        assert many <= few + 8, "some more may be on its way"
        assert few > 50, "something is looked at"
