"""Ring of ranks, and round trips between two ranks, as plain functions in the style of mpi4py."""

from __future__ import annotations

from typing import Any


def main(mpi: Any) -> str:
    """Pass a message around the ring; each rank appends its number."""
    comm = mpi.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank == 0:
        comm.send([0], (rank + 1) % size)
        return f"round: {comm.recv(size - 1)} after {mpi.Wtime() * 1e6:.1f} us"
    passed = comm.recv(rank - 1)
    comm.send([*passed, rank], (rank + 1) % size)
    return f"passed on {passed}"


def pingpong(mpi: Any) -> str:
    """Measure 1,000 round trips of 64 bytes between ranks 0 and 1."""
    comm, room = mpi.COMM_WORLD, bytearray(64)
    rank, begun = comm.Get_rank(), mpi.Wtime()
    for _ in range(1000):
        if rank == 0:
            comm.Send(room, 1)
            comm.Recv(room, 1)
        elif rank == 1:
            comm.Recv(room, 0)
            comm.Send(room, 0)
    return f"{(mpi.Wtime() - begun) / 2000 * 1e6:.3f} us one way"
