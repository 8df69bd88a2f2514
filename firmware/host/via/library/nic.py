"""A NIC as a process has opened it (VipOpenNic): memory, VIs, completion queues, connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from firmware.host.via.common.attributes import NicAttributes, ViAttributes
from firmware.host.via.common.checks import WORD, handler_of, kind_of, time_limit, whole
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Handler
from firmware.host.via.kernel_agent.connections.manager import Agent, Connection
from firmware.host.via.kernel_agent.sleepers import Wants
from firmware.host.via.library.completion import MOST_ENTRIES, CompletionQueue, EntryRing
from firmware.host.via.library.descriptor import Descriptor
from firmware.host.via.library.memory import Memory
from firmware.host.via.library.queries import counters, nic_attributes
from firmware.host.via.library.vi import Vi, WorkQueue
from firmware.host.via.library.waits import posted
from pymodels.formats.via import Reliability
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel


class VipNic(Memory):
    """What `Via.open` gives a process."""

    def __init__(self, kernel: Kernel, agent: Agent, process: Process) -> None:
        super().__init__(kernel, process)
        self.agent = agent
        self._vis: list[Vi] = []
        self.host.waits.ask(partial(posted, self._vis))
        self._on_error: Callable[[Vi], None] | None = None
        self._queues = 0
        """Completion queues that are not destroyed."""

    def begun(self, descriptor: Descriptor) -> int:
        """A send is posted: its number on this host, for the trace."""
        ((physical, _),) = self.process.pieces(descriptor.va, 1)
        return self._kernel.posted(physical, descriptor.size)

    async def query(self) -> NicAttributes:
        """VipQueryNic. Raises VipError, as all calls of a NIC that is closed do."""
        self.check("asking for")
        await self.process.syscall()
        return nic_attributes(self._kernel)

    async def query_counters(self) -> dict[str, int]:
        """VipQuerySystemManagementInfo: what NIC and kernel count, by name."""
        self.check("asking for")
        await self.process.syscall()
        return await counters(self._kernel)

    def on_error(self, handler: Callable[[Vi], None]) -> None:
        """VipErrorCallback: call `handler(vi)` in a thread of its own whenever a connection of a VI of this NIC breaks;
        not for the process's own disconnect.
        """
        self.check("asking for errors of")
        handler_of(handler)
        self._on_error = handler

    def _broken(self, number: int) -> None:
        """A connection broke."""
        vi = next((vi for vi in self._vis if vi.number == number), None)
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
        left = len(self._vis), self._queues, len(self._handles)
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
        self._check_vi(attributes)
        queues = [queue for queue in (send_cq, receive_cq) if queue is not None]
        for queue in queues:
            kind_of(queue, CompletionQueue, "give what create_cq has given")
            queue.check("using", self.process)
        for queue in set(queues):
            queue.users += 1  # at once: nobody destroys it meanwhile
        try:
            vi = await self._make_vi(attributes, send_cq, receive_cq)
        except VipError:
            for queue in set(queues):
                queue.users -= 1
            raise
        self._vis.append(vi)
        return vi

    async def _make_vi(
        self, attributes: ViAttributes, send_cq: CompletionQueue | None, receive_cq: CompletionQueue | None
    ) -> Vi:
        """The kernel's part of VipCreateVi. Raises VipError."""
        await self.process.syscall()
        await self.process.spend("create_vi")
        kernel, pair = self._kernel.new_vi(self.process)
        kernel.on_broken = partial(self._broken, kernel.number)
        kernel.queues = [0 if queue is None else queue.number + 1 for queue in (send_cq, receive_cq)]
        await kernel.set_attributes(attributes)
        await kernel.open_page(pair)
        vi = Vi(self, kernel)
        for queue, work in ((send_cq, vi.sends), (receive_cq, vi.receives)):
            if queue is not None:
                queue.attach(work)
                vi.queues.add(queue)
        return vi

    def _check_vi(self, attributes: ViAttributes) -> None:
        """Whether a VI can have such attributes. Raises VipError."""
        self.check("making or changing a VI of")
        self._check_tag(attributes.tag)
        if attributes.reliability not in list(Reliability):
            what = f"reliability level {attributes.reliability!r}"
            raise VipError(Result.INVALID_RELIABILITY_LEVEL, what, "give one of `Reliability`")
        whole("bytes of a message", attributes.most, 1, self.options.transfer, Result.INVALID_MTU)

    async def set_vi(self, vi: Vi, attributes: ViAttributes) -> None:
        """The rest of VipSetViAttributes. Raises VipError."""
        vi.kernel.check("changing")
        self._check_vi(attributes)
        await self.process.syscall()
        await self.process.spend("create_vi")
        with vi.kernel.change("changing"):
            self.agent.closed(vi.kernel)
            if await vi.kernel.busy():
                raise VipError(Result.INVALID_STATE, f"changing VI {vi.number}", "take its descriptors back first")
            await vi.kernel.set_attributes(attributes)

    async def forget(self, vi: Vi) -> None:
        """The rest of VipDestroyVi. Raises VipError."""
        with vi.kernel.change("destroying"):
            await self.process.syscall()
            await self.process.spend("destroy_vi")
            if len(vi.sends) or len(vi.receives) or await vi.kernel.busy():
                what = f"destroying VI {vi.number}"
                raise VipError(Result.INVALID_STATE, what, "wait until its descriptors are done")
            self._vis.remove(vi)
            await vi.kernel.forget()
            for queue in vi.queues:
                queue.detach(vi)

    # ---- completion queues

    async def create_cq(self, entries: int) -> CompletionQueue:
        """VipCreateCQ: room for so many completions. Raises VipError."""
        self.check("creating a completion queue of")
        whole("completions of a queue", entries, 1, MOST_ENTRIES)
        await self.process.syscall()
        await self.process.spend("create_queue")
        ring = EntryRing(self.process, entries)
        number = await self._kernel.take_queue(ring.physical, entries)
        if number is None:
            ring.release()
            raise VipError(Result.ERROR_RESOURCE, "creating a completion queue", "destroy one, or raise via.queues")
        self._queues += 1
        return CompletionQueue(self, number, ring)

    async def resize_cq(self, queue: CompletionQueue, entries: int) -> EntryRing:
        """The NIC's part of VipResizeCQ: the ring into which it writes from now on. Raises VipError."""
        whole("completions of a queue", entries, 1, MOST_ENTRIES)
        await self.process.syscall()
        await self.process.spend("create_queue")
        ring = EntryRing(self.process, entries)
        await self._kernel.set_queue(queue.number, ring.physical, entries)
        return ring

    async def forget_queue(self, queue: CompletionQueue) -> None:
        """The rest of VipDestroyCQ."""
        self._queues -= 1
        self._kernel.sleepers.wake()
        await self.process.syscall()
        await self.process.spend("destroy_queue")
        await self._kernel.free_queue(queue.number)

    async def sleep(self, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let the calling thread sleep until something is done; another thread may have taken it then."""
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        await self._kernel.sleepers.sleep(self.process, over, wants, timeout_us)

    def notify(self, vi: Vi, queue: WorkQueue, handler: Handler) -> None:
        """Start the thread that calls a handler for the next descriptor of a queue. Raises VipError."""
        vi.kernel.check("waiting at")
        handler_of(handler)

        async def thread() -> None:
            """Sleep, then call."""
            descriptor = await queue.wait(None)
            called = handler(vi, descriptor)
            if called is not None:
                await called

        self.process.spawn(thread(), f"notify of VI {vi.number}")

    # ---- connections

    async def connect_wait(self, discriminator: int, timeout_us: float) -> Connection:
        """VipConnectWait: a request for this discriminator. Raises VipError: TIMEOUT."""
        self.check("waiting for a connection at")
        whole("a discriminator", discriminator, 0, WORD)
        time_limit(timeout_us)
        await self.process.syscall()
        return await self.agent.wait(self.process, discriminator, timeout_us)

    async def connect_accept(self, connection: Connection, vi: Vi) -> None:
        """VipConnectAccept: connect a VI to whoever has asked. Raises VipError."""
        self._check_connection(connection)
        kind_of(vi, Vi, "give what create_vi has given")
        if vi.nic.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"accepting by {vi!r}", "give a VI of this process")
        vi.kernel.check("accepting by")
        await self.process.syscall()
        await self.agent.accept(connection, vi.kernel)

    async def connect_reject(self, connection: Connection) -> None:
        """VipConnectReject. Raises VipError."""
        self._check_connection(connection)
        await self.process.syscall()
        await self.agent.reject(connection)

    def _check_connection(self, connection: Connection) -> None:
        """Whether somebody asks for one, and this process was told. Raises VipError."""
        self.check("answering a connection request at")
        kind_of(connection, Connection, "give what connect_wait has given")
        if connection.process is not self.process:
            what = f"answering the connection request {connection.request.name} of another process"
            raise VipError(Result.INVALID_PARAMETER, what, "give what connect_wait of this process has given")
