"""A NIC as a process has opened it (VipOpenNic): memory, VIs, completion queues, connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import NicAttributes, ViAttributes
from firmware.via.host.common.checks import WORD, handler_of, kind_of, time_limit, whole
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.connections.server import Connection
from firmware.via.host.library.completion_queue import CompletionQueue
from firmware.via.host.library.descriptor import Descriptor
from firmware.via.host.library.memory import MemoryCalls
from firmware.via.host.library.queries import counters, nic_attributes
from firmware.via.host.library.vi import Vi, check_attributes
from firmware.via.host.library.waits import posted
from pymodels.host.process import Process


class VipNic(MemoryCalls):
    """What `Via.open` gives a process."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        super().__init__(agent, process)
        self._vis: list[Vi] = []
        self.host.waits.ask(partial(posted, self._vis))
        self._on_error: Callable[[Vi], None] | None = None

    async def query(self) -> NicAttributes:
        """VipQueryNic. Raises VipError, as all calls of a NIC that is closed do."""
        self.check("asking for")
        await self.process.syscall()
        return nic_attributes(self.agent)

    async def query_counters(self) -> dict[str, int]:
        """VipQuerySystemManagementInfo: what NIC and kernel count, by name."""
        self.check("asking for")
        await self.process.syscall()
        return await counters(self.agent)

    def on_error(self, handler: Callable[[Vi], None]) -> None:
        """VipErrorCallback: call `handler(vi)` in a thread of its own whenever a connection of a VI of this NIC breaks;
        not for the process's own disconnect.
        """
        self.check("asking for errors of")
        handler_of(handler)
        self._on_error = handler

    def _broken(self, number: int) -> None:
        """A connection broke."""
        vi = next((vi for vi in self._vis if vi.number == number and not vi.context.dead), None)
        if vi is None:
            return

        async def thread() -> None:
            for handler in (vi.error_handler, self._on_error and partial(self._on_error, vi)):
                if handler is not None:
                    handler()

        self.process.spawn(thread(), f"error handler of VI {number}")

    async def close(self) -> None:
        """VipCloseNic. Raises VipError while the process has VIs, completion queues or registered memory here."""
        self.check("closing")
        left = len(self._open()), self.queues, len(self._handles)
        if any(left):
            what = "closing the NIC with {} VIs, {} completion queues, {} registered regions".format(*left)
            raise VipError(Result.ERROR_RESOURCE, what, "destroy and deregister them first")
        self.closed = True
        await self.process.syscall()

    def descriptor(self, va: int, handle: int) -> Descriptor:
        """A place for a descriptor in registered memory. Raises VipError."""
        self.check("making a descriptor for")
        return Descriptor(self.process, va, handle)

    # ---- VIs

    async def create_vi(
        self,
        tag: int,
        reliability: Reliability = Reliability.UNRELIABLE,
        most: int | None = None,
        rdma_write: bool = True,
        rdma_read: bool = True,
        send_cq: CompletionQueue | None = None,
        receive_cq: CompletionQueue | None = None,
    ) -> Vi:
        """VipCreateVi. `most`: bytes of a message at most (None: as many as can be); whether its peer may write and
        read memory through it; the completion queues of its two work queues. Raises VipError.
        """
        most = self.options.transfer if most is None else most
        attributes = ViAttributes(tag, reliability, most, rdma_write, rdma_read)
        check_attributes(self, attributes)
        queues = dict.fromkeys(queue for queue in (send_cq, receive_cq) if queue is not None)
        for queue in queues:
            kind_of(queue, CompletionQueue, "give what create_cq has given")
            queue.check("using", self.process)
        for queue in queues:
            queue.users += 1  # at once: nobody destroys it meanwhile
        try:
            vi = await self._make_vi(attributes, send_cq, receive_cq)
        except VipError:
            for queue in queues:
                queue.users -= 1
            raise
        self._vis[:] = [*self._open(), vi]
        return vi

    def _open(self) -> list[Vi]:
        """Those that are not destroyed."""
        return [vi for vi in self._vis if not vi.context.dead]

    async def _make_vi(
        self, attributes: ViAttributes, send_cq: CompletionQueue | None, receive_cq: CompletionQueue | None
    ) -> Vi:
        """The kernel's part of VipCreateVi. Raises VipError."""
        await self.process.syscall()
        await self.process.spend("create_vi")
        made = self.agent.vis.create(self.process, self._broken)
        made.context.queues = [0 if queue is None else queue.number + 1 for queue in (send_cq, receive_cq)]
        await made.context.set_attributes(attributes)
        await made.pages.open()
        return Vi(self, made, send_cq, receive_cq)

    # ---- completion queues

    async def create_cq(self, entries: int) -> CompletionQueue:
        """VipCreateCQ: room for so many completions. Raises VipError."""
        self.check("creating a completion queue of")
        return await CompletionQueue.create(self, entries)

    # ---- connections

    async def connect_wait(self, discriminator: int, timeout_us: float) -> Connection:
        """VipConnectWait: a request for this discriminator. Raises VipError: TIMEOUT."""
        self.check("waiting for a connection at")
        whole("a discriminator", discriminator, 0, WORD)
        time_limit(timeout_us)
        await self.process.syscall()
        return await self.agent.connections.server.wait(self.process, discriminator, timeout_us)

    async def connect_accept(self, connection: Connection, vi: Vi) -> None:
        """VipConnectAccept: connect a VI to whoever has asked. Raises VipError."""
        self._check_connection(connection)
        kind_of(vi, Vi, "give what create_vi has given")
        if vi.nic.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"accepting by {vi!r}", "give a VI of this process")
        vi.context.check("accepting by")
        await self.process.syscall()
        await self.agent.connections.server.accept(connection, vi.context)

    async def connect_reject(self, connection: Connection) -> None:
        """VipConnectReject. Raises VipError."""
        self._check_connection(connection)
        await self.process.syscall()
        await self.agent.connections.server.reject(connection)

    def _check_connection(self, connection: Connection) -> None:
        """Whether somebody asks for one, and this process was told. Raises VipError."""
        self.check("answering a connection request at")
        kind_of(connection, Connection, "give what connect_wait has given")
        if connection.process is not self.process:
            what = f"answering the connection request {connection.request.name} of another process"
            raise VipError(Result.INVALID_PARAMETER, what, "give what connect_wait of this process has given")
