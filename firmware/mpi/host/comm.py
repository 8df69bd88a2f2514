"""Communicator: point-to-point calls by mpi4py's names, with buffers as in `buffers.view`."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from enum import Enum
from typing import Any

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import Called, call
from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.engine import Engine
from firmware.mpi.host.envelope import Mode
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.message import Message
from firmware.mpi.host.operation import Operation, SendReceive
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import ANY_SOURCE, ANY_TAG, PROC_NULL, Status


class Null(Enum):
    """Result of a probe of PROC_NULL."""

    NO_PROC = 0


TAG_UB = (1 << 31) - 1
"""Largest tag."""


class PointToPoint(Called):
    """Communicator with its own context, which separates its messages from those of others."""

    def __init__(self, engine: Engine, ranks: Sequence[int], context: int, name: str) -> None:
        """Create the communicator; `ranks` are ranks in MPI_COMM_WORLD, in the order of the ranks here."""
        super().__init__(engine, name)
        self.ranks, self.context = tuple(ranks), context
        self.rank, self.size = self.ranks.index(engine.rank), len(self.ranks)
        self.peers = self.ranks
        """Ranks in MPI_COMM_WORLD of the peers, by their rank here."""

    @property
    def remote_size(self) -> int:
        """Number of peers."""
        return len(self.peers)

    def Get_rank(self) -> int:
        """Return the own rank (`MPI_Comm_rank`)."""
        return self.rank

    def Get_size(self) -> int:
        """Return the number of ranks (`MPI_Comm_size`)."""
        return self.size

    # ---- blocking

    @call("MPI_Send")
    async def Send(self, buf: Spec, dest: int, tag: int = 0) -> None:
        """Send a message (`MPI_Send`). Return when the buffer may be changed; long messages wait for the receive."""
        await self._finish(await self._send("MPI_Send", Mode.STANDARD, buf, dest, tag))

    @call("MPI_Ssend")
    async def Ssend(self, buf: Spec, dest: int, tag: int = 0) -> None:
        """Send a message and return when its receive has started (`MPI_Ssend`)."""
        await self._finish(await self._send("MPI_Ssend", Mode.SYNCHRONOUS, buf, dest, tag))

    @call("MPI_Rsend")
    async def Rsend(self, buf: Spec, dest: int, tag: int = 0) -> None:
        """Send a message eagerly at any length (`MPI_Rsend`). The receiver fails if no receive is posted."""
        await self._finish(await self._send("MPI_Rsend", Mode.READY, buf, dest, tag))

    @call("MPI_Bsend")
    async def Bsend(self, buf: Spec, dest: int, tag: int = 0) -> None:
        """Send a message through the attached buffer without waiting for the receive (`MPI_Bsend`)."""
        await self._finish(await self._send("MPI_Bsend", Mode.BUFFERED, buf, dest, tag))

    @call("MPI_Recv")
    async def Recv(self, buf: Spec, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> None:
        """Receive a message that fits into the buffer (`MPI_Recv`)."""
        await self._finish(await self._receive("MPI_Recv", buf, source, tag), status)

    @call("MPI_Sendrecv")
    async def Sendrecv(
        self,
        sendbuf: Spec,
        dest: int,
        sendtag: int = 0,
        recvbuf: Spec = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        """Send and receive concurrently, so that two ranks can exchange messages without deadlock (`MPI_Sendrecv`)."""
        receive = await self._receive("MPI_Sendrecv", recvbuf, source, recvtag)
        send = await self._send("MPI_Sendrecv", Mode.STANDARD, sendbuf, dest, sendtag)
        await self.engine.until(lambda: send.done and receive.done, [send, receive])
        await self._finish(receive, status)

    # ---- non-blocking

    @call("MPI_Isend")
    async def Isend(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Start a send (`MPI_Isend`)."""
        return Request(self.engine, await self._send("MPI_Isend", Mode.STANDARD, buf, dest, tag))

    @call("MPI_Issend")
    async def Issend(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Start a synchronous send (`MPI_Issend`)."""
        return Request(self.engine, await self._send("MPI_Issend", Mode.SYNCHRONOUS, buf, dest, tag))

    @call("MPI_Irsend")
    async def Irsend(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Start a ready send (`MPI_Irsend`)."""
        return Request(self.engine, await self._send("MPI_Irsend", Mode.READY, buf, dest, tag))

    @call("MPI_Ibsend")
    async def Ibsend(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Start a buffered send (`MPI_Ibsend`)."""
        return Request(self.engine, await self._send("MPI_Ibsend", Mode.BUFFERED, buf, dest, tag))

    @call("MPI_Irecv")
    async def Irecv(self, buf: Spec, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Start a receive (`MPI_Irecv`)."""
        return Request(self.engine, await self._receive("MPI_Irecv", buf, source, tag))

    @call("MPI_Isendrecv")
    async def Isendrecv(
        self,
        sendbuf: Spec,
        dest: int,
        sendtag: int = 0,
        recvbuf: Spec = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """Start a send and a receive as one request, which has the status of the receive (`MPI_Isendrecv`)."""
        receive = await self._receive("MPI_Isendrecv", recvbuf, source, recvtag)
        send = await self._send("MPI_Isendrecv", Mode.STANDARD, sendbuf, dest, sendtag)
        return Request(self.engine, SendReceive("MPI_Isendrecv", send, receive))

    # ---- persistent

    def Send_init(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Return a persistent send for `Start` (`MPI_Send_init`)."""
        return self._send_init("MPI_Send_init", Mode.STANDARD, buf, dest, tag)

    def Ssend_init(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Return a persistent synchronous send (`MPI_Ssend_init`)."""
        return self._send_init("MPI_Ssend_init", Mode.SYNCHRONOUS, buf, dest, tag)

    def Rsend_init(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Return a persistent ready send (`MPI_Rsend_init`)."""
        return self._send_init("MPI_Rsend_init", Mode.READY, buf, dest, tag)

    def Bsend_init(self, buf: Spec, dest: int, tag: int = 0) -> Request:
        """Return a persistent buffered send (`MPI_Bsend_init`)."""
        return self._send_init("MPI_Bsend_init", Mode.BUFFERED, buf, dest, tag)

    def Recv_init(self, buf: Spec, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Return a persistent receive (`MPI_Recv_init`)."""
        with self.calling("MPI_Recv_init"):
            self._receiving("MPI_Recv_init", buf, source, tag)
        return Request(self.engine, begin=lambda: self._receive("MPI_Recv_init", buf, source, tag))

    def _send_init(self, name: str, mode: Mode, buf: Spec, dest: int, tag: int) -> Request:
        with self.calling(name):
            self._sending(name, buf, dest, tag)
        return Request(self.engine, begin=lambda: self._send(name, mode, buf, dest, tag))

    # ---- probe

    @call("MPI_Probe")
    async def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Wait for a message without receiving it (`MPI_Probe`)."""
        await self._probe("MPI_Probe", source, tag, status or Status())
        return True

    @call("MPI_Iprobe")
    async def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Return True if a message has arrived (`MPI_Iprobe`)."""
        return await self._look("MPI_Iprobe", source, tag, status or Status()) is not None

    async def _probe(self, name: str, source: int, tag: int, status: Status) -> Message | Null:
        """Wait for a message and fill in its status."""
        looked, matcher = self._receiving(name, None, source, tag), self.engine.matcher
        while (found := await self._look(name, source, tag, status)) is None:
            await self.engine.until(lambda: matcher.probe(looked.key)[0] is not None, [looked])
        return found

    async def _look(self, name: str, source: int, tag: int, status: Status) -> Message | Null | None:
        """Return an arrived message after filling in its status, or None."""
        looked = self._receiving(name, None, source, tag)
        if looked.done:
            status.take(looked.status)
            return Null.NO_PROC
        found = await self.engine.probe(looked.key)
        if found is not None:
            status.take(Status(self.peers.index(found.key.source), found.key.tag, 0, found.size))
        return found

    # ---- Python objects

    @call("MPI_Send")
    async def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send a pickled object."""
        await self._finish(await self._send("MPI_Send", Mode.STANDARD, pickle.dumps(obj), dest, tag))

    @call("MPI_Isend")
    async def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send a pickled object."""
        return Request(self.engine, await self._send("MPI_Isend", Mode.STANDARD, pickle.dumps(obj), dest, tag))

    @call("MPI_Recv")
    async def recv(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Any:
        """Receive a pickled object."""
        found = Status()
        await self._probe("MPI_Recv", source, tag, found)
        if found.source == PROC_NULL:
            return None
        data = bytearray(found.size)
        await self._finish(await self._receive("MPI_Recv", data, found.source, found.tag), status)
        return pickle.loads(data)  # noqa: S301 - a rank of the same program sent it

    # ---- helpers

    async def _send(self, name: str, mode: Mode, buf: Spec, dest: int, tag: int) -> Operation:
        operation = self._sending(name, buf, dest, tag)
        if not operation.done:
            await self.engine.send(operation, mode)
        return operation

    async def _receive(self, name: str, buf: Spec, source: int, tag: int) -> Operation:
        operation = self._receiving(name, buf, source, tag)
        if not operation.done:
            await self.engine.receive(operation)
        return operation

    def _sending(self, name: str, buf: Spec, dest: int, tag: int) -> Operation:
        """Return a send operation after checking its arguments."""
        data, tag = view(buf), whole("tag", tag, ErrorClass.TAG)
        peer = self._peer("destination", dest)
        if tag > TAG_UB:
            raise Misuse(ErrorClass.TAG, f"tag is {tag}", f"give at most {TAG_UB}")
        return self._operation(name, Key(self.context, self.engine.rank, tag), data, peer)

    def _receiving(self, name: str, buf: Spec, source: int, tag: int) -> Operation:
        """Return a receive operation after checking its arguments."""
        data, tag = view(buf, writable=True), whole("tag", tag, ErrorClass.TAG, ANY_TAG)
        peer = ANY if source == ANY_SOURCE else self._peer("source", source)
        key = Key(self.context, ANY if peer is None else peer, ANY if tag == ANY_TAG else tag)
        return self._operation(name, key, data, peer)

    def _operation(self, name: str, key: Key, data: View, peer: int | None) -> Operation:
        """Return an operation; with PROC_NULL it is already complete."""
        operation = Operation(name, self.peers, key, data, ANY if peer is None else peer)
        if peer is None:
            operation.status = Status(PROC_NULL)
            operation.finish()
        return operation

    def _peer(self, what: str, rank: int) -> int | None:
        """Return a rank in MPI_COMM_WORLD, or None for PROC_NULL. Raises Misuse."""
        number = whole(what, rank, ErrorClass.RANK, PROC_NULL)
        if number >= self.remote_size:
            cause = f"{what} is {number}, and {self.name} has {self.remote_size} ranks"
            raise Misuse(ErrorClass.RANK, cause, f"give 0..{self.remote_size - 1}")
        return None if number == PROC_NULL else self.peers[number]

    async def _finish(self, operation: Operation, status: Status | None = None) -> None:
        """Wait for an operation. Raises Misuse if it failed."""
        await self.engine.until(lambda: operation.done, [operation])
        if status is not None:
            status.take(operation.status)
        if operation.error:
            raise operation.error
