"""A NIC as a process has opened it (VipOpenNic): memory, VIs, completion queues, connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from firmware.host.via.agent import Agent, Connection
from firmware.host.via.completion import MOST_ENTRIES, CompletionQueue
from firmware.host.via.contiguous import gather
from firmware.host.via.descriptor import Descriptor
from firmware.host.via.errors import Result, VipError
from firmware.host.via.sleepers import Wants
from firmware.host.via.vi import Vi, WorkQueue
from firmware.host.via.waiting import Handler
from firmware.nic.via.layout import State
from firmware.nic.via.layout import Vi as Word
from pymodels.formats.via import Reliability
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.kernel import Kernel


class VipNic:
    """What `Via.open` gives a process."""

    def __init__(self, kernel: Kernel, agent: Agent, process: Process) -> None:
        self._kernel, self.agent, self.process = kernel, agent, process
        self.host, self.options = kernel.host, kernel.options
        self._tags: set[int] = set()
        self._vis: list[Vi] = []

    def begun(self, descriptor: Descriptor) -> int:
        """A send is posted: its number on this host, for the trace."""
        ((physical, _),) = self.process.pieces(descriptor.va, 1)
        return self._kernel.posted(physical, descriptor.size)

    async def close(self) -> None:
        """VipCloseNic. Raises VipError while the process has VIs."""
        if self._vis:
            raise VipError(Result.ERROR_RESOURCE, f"closing the NIC with {len(self._vis)} VIs", "destroy them first")
        await self.process.syscall()

    # ---- memory

    def create_ptag(self) -> int:
        """VipCreatePtag: a protection tag; a VI reaches only memory under its own."""
        self._tags.add(tag := self._kernel.new_tag())
        return tag

    async def register_memory(self, va: int, size: int, tag: int, rdma_write: bool = False) -> int:
        """VipRegisterMem: pin a range of memory and let VIs of this tag use it; its handle. Raises VipError."""
        self._check_tag(tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        if self.options.translation == "flat":
            await gather(self.host, self.process, va, size)
        region = self._kernel.registry.add(self.process, va, size, tag, rdma_write)
        await self.process.spend("register_page", len(region.frames))
        await self._kernel.tables.register(region)
        return region.handle

    async def deregister_memory(self, handle: int) -> None:
        """VipDeregisterMem. Raises VipError while a posted descriptor uses it."""
        await self.process.syscall()
        region = self._kernel.registry.get(handle)
        if region is None or region.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"deregistering {handle:#x}", "give a handle of this process")
        await self.process.spend("register_page", len(region.frames))
        await self._kernel.deregister(region)

    def descriptor(self, va: int, handle: int) -> Descriptor:
        """A place for a descriptor in registered memory."""
        return Descriptor(self.process, va, handle)

    # ---- VIs

    async def create_vi(
        self,
        tag: int,
        reliability: Reliability = Reliability.UNRELIABLE,
        most: int | None = None,
        send_cq: CompletionQueue | None = None,
        receive_cq: CompletionQueue | None = None,
    ) -> Vi:
        """VipCreateVi. `most`: bytes of a message at most (None: as many as can be); the completion queues of its two
        work queues. Raises VipError.
        """
        self._check_tag(tag)
        transfer = self.options.transfer
        most = transfer if most is None else most
        if not 0 < most <= transfer:
            raise VipError(Result.INVALID_PARAMETER, f"messages of {most} bytes", f"give 1 to {transfer}")
        await self.process.syscall()
        await self.process.spend("create_vi")
        kernel = next((vi for vi in self._kernel.vis[1:] if vi.process is None), None)
        if kernel is None:
            raise VipError(Result.ERROR_RESOURCE, "creating a VI", "destroy one, or raise via.vis")
        kernel.process, kernel.tag, kernel.reliability, kernel.most = self.process, tag, Reliability(reliability), most
        await kernel.set_state(State.CLOSED)
        numbers = [0 if queue is None else queue.number + 1 for queue in (send_cq, receive_cq)]
        await self._kernel.write_vi(kernel.number, Word.SEND_QUEUE, *numbers, tag, most)
        await kernel.open_page()
        vi = Vi(self, kernel)
        for queue, work in ((send_cq, vi.sends), (receive_cq, vi.receives)):
            if queue is not None:
                queue.attach(work)
                vi.queues.append(queue)
        self._vis.append(vi)
        return vi

    async def forget(self, vi: Vi) -> None:
        """The rest of VipDestroyVi."""
        await self.process.syscall()
        await self.process.spend("destroy_vi")
        if await vi.kernel.busy():
            raise VipError(Result.INVALID_STATE, f"destroying VI {vi.number}", "wait until its descriptors are done")
        self._vis.remove(vi)
        for queue in vi.queues:
            queue.wants = [want for want in queue.wants if want[0] != vi.number]
        await vi.kernel.forget()

    # ---- completion queues

    async def create_cq(self, entries: int) -> CompletionQueue:
        """VipCreateCQ: room for so many completions. Raises VipError."""
        if not 0 < entries <= MOST_ENTRIES:
            raise VipError(Result.INVALID_PARAMETER, f"a queue of {entries} completions", f"give 1 to {MOST_ENTRIES}")
        await self.process.syscall()
        await self.process.spend("create_queue")
        va = self.process.allocate(4 * entries)
        number = await self._kernel.take_queue(self.process.pin(va, 4 * entries)[0], entries)
        if number is None:
            raise VipError(Result.ERROR_RESOURCE, "creating a completion queue", "destroy one, or raise via.queues")
        return CompletionQueue(self, number, va, entries)

    async def forget_queue(self, queue: CompletionQueue) -> None:
        """VipDestroyCQ. Raises VipError while a VI uses it."""
        if queue.wants:
            raise VipError(Result.ERROR_RESOURCE, "destroying a completion queue in use", "destroy its VIs first")
        await self.process.syscall()
        await self.process.spend("destroy_queue")
        self._kernel.free_queue(queue.number)

    async def sleep(self, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> bool:
        """Let the calling thread sleep until something is done; whether it is."""
        return await self._kernel.sleepers.sleep(self.process, over, wants, timeout_us)

    def notify(self, vi: Vi, queue: WorkQueue, handler: Handler) -> None:
        """Start the thread that calls a handler for the next descriptor of a queue."""

        async def thread() -> None:
            """Sleep, then call."""
            descriptor = await queue.wait(None)
            called = handler(vi, descriptor)
            if called is not None:
                await called

        self.process.spawn(thread(), f"notify of VI {vi.number}")

    def _check_tag(self, tag: int) -> None:
        if tag not in self._tags:
            raise VipError(Result.INVALID_PTAG, f"protection tag {tag}", "make one by create_ptag")

    # ---- connections

    async def connect_wait(self, discriminator: int, timeout_us: float) -> Connection:
        """VipConnectWait: a request for this discriminator. Raises VipError: TIMEOUT."""
        await self.process.syscall()
        return await self.agent.wait(self.process, discriminator, timeout_us)

    async def connect_accept(self, connection: Connection, vi: Vi) -> None:
        """VipConnectAccept: connect a VI to whoever has asked. Raises VipError."""
        await self.process.syscall()
        await self.agent.accept(connection, vi.kernel)

    async def connect_reject(self, connection: Connection) -> None:
        """VipConnectReject."""
        await self.process.syscall()
        await self.agent.reject(connection)
