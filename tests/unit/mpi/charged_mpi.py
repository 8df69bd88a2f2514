"""MPI operations whose costs are recorded: messages in each protocol, posted and early, with gaps, and collectives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import numpy as np

from firmware.mpi.host import ErrorClass, Mpi, Request
from tests.unit.layers.charges import SETTLE_PS, Charges
from tests.unit.mpi.mpi_bench import World, refused

Part = Callable[[Mpi], Awaitable[object]]
SHORT, LONG = 1000, 9000


def tour(charges: Charges) -> None:
    """Run each operation over each layer."""
    for on in ("grim", "via", "pipes", "lapi"):
        world = World(2, on)
        for name, (first, second) in OPERATIONS.items():
            with charges.operation(f"mpi on {on}: {name}"):
                world.machine.finish(_settled(first, world.ranks[0]), _settled(second, world.ranks[1]))


async def _settled(part: Part, mpi: Mpi) -> None:
    await part(mpi)
    await mpi.host.sleep(SETTLE_PS, "the end of an operation")


def _send(size: int) -> Part:
    return lambda mpi: mpi.COMM_WORLD.Send(bytes(size), 1)


def _receive(size: int) -> Part:
    return lambda mpi: mpi.COMM_WORLD.Recv(bytearray(size), 0)


def _later(part: Part) -> Part:
    """Run an operation after the other rank has progressed as far as possible."""

    async def later(mpi: Mpi) -> None:
        await mpi.host.sleep(SETTLE_PS, "the other rank")
        await mpi.COMM_WORLD.Iprobe()
        await part(mpi)

    return later


async def _tested(mpi: Mpi) -> None:
    request = await mpi.COMM_WORLD.Irecv(bytearray(SHORT), 0)
    await request.Test()
    await Request.Waitall([request])


async def _spread(mpi: Mpi) -> None:
    column, data, comm = mpi.INT.Create_vector(10, 1, 4).Commit(), np.zeros(40, "<i4"), mpi.COMM_WORLD
    await (comm.Recv([data, 1, column], 0) if comm.Get_rank() else comm.Send([data, 1, column], 1))


async def _buffered(mpi: Mpi) -> None:
    mpi.Attach_buffer(SHORT)
    await mpi.COMM_WORLD.Bsend(bytes(SHORT), 1)
    await mpi.Detach_buffer()


async def _nothing(mpi: Mpi) -> None:
    pass


async def _packed(mpi: Mpi) -> None:
    column, data = mpi.INT.Create_vector(10, 1, 4).Commit(), np.zeros(40, "<i4")
    await mpi.COMM_WORLD.Pack([data, 1, column], bytearray(40), 0)


def _alike(part: Part) -> tuple[Part, Part]:
    return part, part


OPERATIONS: dict[str, tuple[Part, Part]] = {
    "init": _alike(Mpi.Init),
    "eager": (_send(SHORT), _receive(SHORT)),
    "early": (_send(SHORT), _later(_receive(SHORT))),
    "by request": (_send(LONG), _receive(LONG)),
    "request that is early": (_send(LONG), _later(_receive(LONG))),
    "tested": (_later(_send(SHORT)), _tested),
    "with gaps": _alike(_spread),
    "packed": (_packed, _nothing),
    "buffered": (_buffered, _receive(SHORT)),
    "too long": (_send(SHORT), lambda mpi: refused(_receive(SHORT // 2)(mpi), ErrorClass.TRUNCATE)),
    "to itself": (lambda mpi: mpi.COMM_WORLD.Sendrecv(bytes(8), 0, 0, bytearray(8), 0), _nothing),
    "barrier": _alike(lambda mpi: mpi.COMM_WORLD.Barrier()),
    "allreduce": _alike(lambda mpi: mpi.COMM_WORLD.Allreduce(np.ones(10), np.zeros(10))),
    "finalize": _alike(Mpi.Finalize),
}
