"""Mail interface over MPI: `Send` and `Recv` of bytes, from any source."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firmware.mail import Mail
from firmware.mpi.host.library import Mpi
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import Status


class MpiMail(Mail):
    """Mail of one rank. Messages at or above the eager limit use the rendezvous protocol."""

    most = 1 << 16

    def __init__(self, mpi: Mpi) -> None:
        super().__init__(mpi.host)
        self._mpi, self._comm = mpi, mpi.COMM_WORLD
        self.longest_eager = mpi.engine.limit - 1
        self._room = np.zeros(self.most, np.uint8)
        self._begun: list[Request] = []

    async def start(self) -> None:
        await self._mpi.Init()
        await self._comm.Barrier()

    async def _send(self, node: int, data: bytes) -> None:
        await self._comm.Send(np.frombuffer(data, np.uint8), node)

    async def post(self, node: int, data: bytes) -> None:
        self.check(data)
        self._begun.append(await self._comm.Isend(np.frombuffer(data, np.uint8), node))

    async def posted(self) -> None:
        begun, self._begun = self._begun, []
        await Request.Waitall(begun)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            status = Status()
            await self._comm.Recv(self._room, status=status)
            self._came.append((status.Get_source(), self._room[: status.Get_count()].tobytes()))

    async def finish(self) -> None:
        await self._mpi.Finalize()


open_mail = MpiMail
