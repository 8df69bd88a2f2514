"""Matched probes: they take the message, so no other receive gets it."""

from __future__ import annotations

from firmware.mpi.host.buffers import Spec
from firmware.mpi.host.calls import call
from firmware.mpi.host.comm import Null, PointToPoint
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.message import Message
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import ANY_TAG, PROC_NULL, Status


class MatchedMessage:
    """Message taken by a matched probe, to be received once."""

    def __init__(self, comm: Matched, message: Message | Null) -> None:
        self._comm, self._message = comm, message
        self._over = False

    async def Recv(self, buf: Spec, status: Status | None = None) -> None:
        """Receive the message (`MPI_Mrecv`)."""
        with self._comm.calling("MPI_Mrecv"):
            await self._comm._finish(await self._begin("MPI_Mrecv", buf), status)

    async def Irecv(self, buf: Spec) -> Request:
        """Start to receive the message (`MPI_Imrecv`)."""
        with self._comm.calling("MPI_Imrecv"):
            return Request(self._comm.engine, await self._begin("MPI_Imrecv", buf))

    async def _begin(self, name: str, buf: Spec) -> Operation:
        if self._over:
            raise Misuse(ErrorClass.REQUEST, "the message is received already", "receive it once")
        message, comm = self._message, self._comm
        if message is Null.NO_PROC:
            operation = comm._receiving(name, buf, PROC_NULL, ANY_TAG)
        else:
            operation = comm._receiving(name, buf, comm.peers.index(message.key.source), message.key.tag)
            await comm.engine.receive(operation, message)
        self._over = True
        return operation


class Matched(PointToPoint):
    """Matched probes of a communicator."""

    @call("MPI_Mprobe")
    async def Mprobe(self, source: int, tag: int, status: Status | None = None) -> MatchedMessage:
        """Wait for a message and take it (`MPI_Mprobe`)."""
        return self._taken(await self._probe("MPI_Mprobe", source, tag, status or Status()))

    @call("MPI_Improbe")
    async def Improbe(self, source: int, tag: int, status: Status | None = None) -> MatchedMessage | None:
        """Take a message that has arrived, or return None (`MPI_Improbe`)."""
        found = await self._look("MPI_Improbe", source, tag, status or Status())
        return None if found is None else self._taken(found)

    def _taken(self, found: Message | Null) -> MatchedMessage:
        if found is not Null.NO_PROC:
            self.engine.matcher.messages.remove(found)
        return MatchedMessage(self, found)
