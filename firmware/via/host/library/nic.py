"""NIC opened by a process (VipOpenNic): memory, VIs, completion queues, connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import NicAttributes, ViAttributes
from firmware.via.host.common.checks import WORD, check_callable, check_integer, check_time_limit, check_type
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
    """NIC opened by a process with `Via.open`. All calls raise VipError after `close`."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        super().__init__(agent, process)
        self._vis: list[Vi] = []
        self.host.waits.register(partial(posted, self._vis))
        self._on_error: Callable[[Vi], None] | None = None

    async def query(self) -> NicAttributes:
        """Return the attributes of the NIC (VipQueryNic). Raises VipError."""
        self.check("querying")
        await self.process.syscall()
        return nic_attributes(self.agent)

    async def query_counters(self) -> dict[str, int]:
        """Return the counters of NIC and kernel by name (VipQuerySystemManagementInfo)."""
        self.check("querying")
        await self.process.syscall()
        return await counters(self.agent)

    def on_error(self, handler: Callable[[Vi], None]) -> None:
        """Call `handler(vi)` in a new thread whenever a connection of this NIC breaks (VipErrorCallback).

        The handler is not called for disconnects by the process itself.
        """
        self.check("setting the error handler of")
        check_callable(handler)
        self._on_error = handler

    def _broken(self, number: int) -> None:
        """Start the error handlers for a broken connection."""
        vi = next((vi for vi in self._vis if vi.number == number and not vi.context.dead), None)
        if vi is None:
            return

        async def thread() -> None:
            for handler in (vi.error_handler, self._on_error and partial(self._on_error, vi)):
                if handler is not None:
                    handler()

        self.process.spawn(thread(), f"error handler of VI {number}")

    async def close(self) -> None:
        """Close the NIC (VipCloseNic). Raises VipError while VIs, completion queues or registered memory are left."""
        self.check("closing")
        left = len(self._open()), self.queues, len(self._handles)
        if any(left):
            what = "closing the NIC with {} VIs, {} completion queues, {} registered regions".format(*left)
            raise VipError(Result.ERROR_RESOURCE, what, "destroy and deregister them first")
        self.closed = True
        await self.process.syscall()

    def descriptor(self, va: int, handle: int) -> Descriptor:
        """Return a descriptor object for an address in registered memory. Raises VipError."""
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
        """Create a VI (VipCreateVi). Raises VipError.

        Args:
            tag: Protection tag.
            reliability: Reliability level.
            most: Maximum message size in bytes; None for the largest possible.
            rdma_write: True if the peer may write memory through this VI.
            rdma_read: True if the peer may read memory through this VI.
            send_cq: Completion queue of sends, or None.
            receive_cq: Completion queue of receives, or None.
        """
        most = self.options.transfer if most is None else most
        attributes = ViAttributes(tag, reliability, most, rdma_write, rdma_read)
        check_attributes(self, attributes)
        queues = dict.fromkeys(queue for queue in (send_cq, receive_cq) if queue is not None)
        for queue in queues:
            check_type(queue, CompletionQueue, "give a result of create_cq")
            queue.check("using", self.process)
        for queue in queues:
            queue.users += 1  # before the wait, so that the queue is not destroyed
        try:
            vi = await self._make_vi(attributes, send_cq, receive_cq)
        except VipError:
            for queue in queues:
                queue.users -= 1
            raise
        self._vis[:] = [*self._open(), vi]
        return vi

    def _open(self) -> list[Vi]:
        """Return the VIs that are not destroyed."""
        return [vi for vi in self._vis if not vi.context.dead]

    async def _make_vi(
        self, attributes: ViAttributes, send_cq: CompletionQueue | None, receive_cq: CompletionQueue | None
    ) -> Vi:
        """Execute the kernel's part of VipCreateVi. Raises VipError."""
        await self.process.syscall()
        await self.process.spend("create_vi")
        made = self.agent.vis.create(self.process, self._broken)
        made.context.queues = [0 if queue is None else queue.number + 1 for queue in (send_cq, receive_cq)]
        await made.context.set_attributes(attributes)
        await made.pages.open()
        return Vi(self, made, send_cq, receive_cq)

    # ---- completion queues

    async def create_cq(self, entries: int) -> CompletionQueue:
        """Create a completion queue with room for `entries` completions (VipCreateCQ). Raises VipError."""
        self.check("creating a completion queue of")
        return await CompletionQueue.create(self, entries)

    # ---- connections

    async def connect_wait(self, discriminator: int, timeout_us: float) -> Connection:
        """Wait for a connection request and return it (VipConnectWait). Raises VipError: TIMEOUT.

        Args:
            discriminator: Number that clients name.
            timeout_us: Time limit in microseconds.
        """
        self.check("waiting for a connection at")
        check_integer("a discriminator", discriminator, 0, WORD)
        check_time_limit(timeout_us)
        await self.process.syscall()
        return await self.agent.connections.server.wait(self.process, discriminator, timeout_us)

    async def connect_accept(self, connection: Connection, vi: Vi) -> None:
        """Accept a connection request, and connect a VI to the client (VipConnectAccept). Raises VipError."""
        self._check_connection(connection)
        check_type(vi, Vi, "give a result of create_vi")
        if vi.nic.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"accepting by {vi!r}", "give a VI of this process")
        vi.context.check("accepting by")
        await self.process.syscall()
        await self.agent.connections.server.accept(connection, vi.context)

    async def connect_reject(self, connection: Connection) -> None:
        """Reject a connection request (VipConnectReject). Raises VipError."""
        self._check_connection(connection)
        await self.process.syscall()
        await self.agent.connections.server.reject(connection)

    def _check_connection(self, connection: Connection) -> None:
        """Raise VipError unless the argument is a connection request to this process."""
        self.check("answering a connection request at")
        check_type(connection, Connection, "give a result of connect_wait")
        if connection.process is not self.process:
            what = f"answering the connection request {connection.request.name} of another process"
            raise VipError(Result.INVALID_PARAMETER, what, "give a result of this process's connect_wait")
