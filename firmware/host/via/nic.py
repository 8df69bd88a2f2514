"""A NIC as a process has opened it (VipOpenNic): memory, VIs, completion queues, connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from firmware.host.via.agent import Agent, Connection
from firmware.host.via.attributes import MemoryAttributes, NicAttributes, ViAttributes
from firmware.host.via.completion import MOST_ENTRIES, CompletionQueue, EntryRing
from firmware.host.via.contiguous import gather
from firmware.host.via.descriptor import Descriptor
from firmware.host.via.errors import Result, VipError
from firmware.host.via.queries import counters, nic_attributes
from firmware.host.via.registry import Region
from firmware.host.via.sleepers import Wants
from firmware.host.via.vi import Vi, WorkQueue
from firmware.host.via.waiting import Handler
from firmware.host.via.waits import posted
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
        self.host.waits.ask(partial(posted, self._vis))
        self._on_error: Callable[[Vi], None] | None = None

    def begun(self, descriptor: Descriptor) -> int:
        """A send is posted: its number on this host, for the trace."""
        ((physical, _),) = self.process.pieces(descriptor.va, 1)
        return self._kernel.posted(physical, descriptor.size)

    async def query(self) -> NicAttributes:
        """VipQueryNic."""
        await self.process.syscall()
        return nic_attributes(self._kernel)

    async def query_counters(self) -> dict[str, int]:
        """VipQuerySystemManagementInfo: what NIC and kernel count, by name."""
        await self.process.syscall()
        return await counters(self._kernel)

    def on_error(self, handler: Callable[[Vi], None]) -> None:
        """VipErrorCallback: call `handler(vi)` whenever a connection of a VI of this NIC breaks."""
        self._on_error = handler

    def _broken(self, number: int) -> None:
        """A connection broke."""
        vi = next(vi for vi in self._vis if vi.number == number)
        for handler in (vi.error_handler, self._on_error and partial(self._on_error, vi)):
            if handler is not None:
                handler()

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

    async def register_memory(
        self, va: int, size: int, tag: int, rdma_write: bool = False, rdma_read: bool = False
    ) -> int:
        """VipRegisterMem: pin a range of memory and let VIs of this tag use it, and their peers write or read it; its
        handle. Raises VipError.
        """
        self._check_tag(tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        if self.options.translation == "flat":
            await gather(self.host, self.process, va, size)
        attributes = MemoryAttributes(tag, rdma_write, rdma_read)
        region = self._kernel.registry.add(self.process, va, size, attributes)
        await self.process.spend("register_page", len(region.frames))
        await self._kernel.tables.register(region)
        return region.handle

    async def deregister_memory(self, handle: int) -> None:
        """VipDeregisterMem. Raises VipError while a posted descriptor uses it."""
        await self.process.syscall()
        region = self._region(handle, "deregistering")
        await self.process.spend("register_page", len(region.frames))
        await self._kernel.deregister(region)

    async def query_memory(self, handle: int) -> MemoryAttributes:
        """VipQueryMem. Raises VipError."""
        await self.process.syscall()
        return self._region(handle, "asking for").attributes

    async def set_memory(self, handle: int, attributes: MemoryAttributes) -> None:
        """VipSetMemAttributes. Raises VipError while a posted descriptor uses the memory."""
        self._check_tag(attributes.tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        await self._kernel.change(self._region(handle, "changing"), attributes)

    def _region(self, handle: int, doing: str) -> Region:
        """The region of a handle of this process. Raises VipError."""
        region = self._kernel.registry.get(handle)
        if region is None or region.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} {handle:#x}", "give a handle of this process")
        return region

    def descriptor(self, va: int, handle: int) -> Descriptor:
        """A place for a descriptor in registered memory."""
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
        attributes = ViAttributes(tag, Reliability(reliability), most, rdma_write, rdma_read)
        self._check_vi(attributes)
        await self.process.syscall()
        await self.process.spend("create_vi")
        kernel = next((vi for vi in self._kernel.vis[1:] if vi.process is None), None)
        if kernel is None:
            raise VipError(Result.ERROR_RESOURCE, "creating a VI", "destroy one, or raise via.vis")
        pair = self._kernel.pairs.take(self.process, kernel.number)
        kernel.process, kernel.on_broken = self.process, partial(self._broken, kernel.number)
        kernel.queues = [0 if queue is None else queue.number + 1 for queue in (send_cq, receive_cq)]
        await kernel.set_attributes(attributes)
        await kernel.open_page(pair)
        vi = Vi(self, kernel)
        for queue, work in ((send_cq, vi.sends), (receive_cq, vi.receives)):
            if queue is not None:
                queue.attach(work)
                vi.queues.append(queue)
        self._vis.append(vi)
        return vi

    def _check_vi(self, attributes: ViAttributes) -> None:
        """Whether a VI can have such attributes. Raises VipError."""
        self._check_tag(attributes.tag)
        if not 0 < attributes.most <= self.options.transfer:
            what = f"messages of {attributes.most} bytes"
            raise VipError(Result.INVALID_PARAMETER, what, f"give 1 to {self.options.transfer}")

    async def set_vi(self, vi: Vi, attributes: ViAttributes) -> None:
        """The rest of VipSetViAttributes. Raises VipError."""
        self._check_vi(attributes)
        await self.process.syscall()
        await self.process.spend("create_vi")
        self.agent.closed(vi.kernel)
        if await vi.kernel.busy():
            raise VipError(Result.INVALID_STATE, f"changing VI {vi.number}", "take its descriptors back first")
        await vi.kernel.set_attributes(attributes)

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
        ring = EntryRing(self.process, entries)
        number = await self._kernel.take_queue(ring.physical, entries)
        if number is None:
            ring.release()
            raise VipError(Result.ERROR_RESOURCE, "creating a completion queue", "destroy one, or raise via.queues")
        return CompletionQueue(self, number, ring)

    async def resize_cq(self, queue: CompletionQueue, entries: int) -> EntryRing:
        """The NIC's part of VipResizeCQ: the ring into which it writes from now on. Raises VipError."""
        if not 0 < entries <= MOST_ENTRIES:
            raise VipError(Result.INVALID_PARAMETER, f"a queue of {entries} completions", f"give 1 to {MOST_ENTRIES}")
        await self.process.syscall()
        await self.process.spend("create_queue")
        ring = EntryRing(self.process, entries)
        await self._kernel.set_queue(queue.number, ring.physical, entries)
        return ring

    async def forget_queue(self, queue: CompletionQueue) -> None:
        """VipDestroyCQ. Raises VipError while a VI uses it."""
        if queue.wants:
            raise VipError(Result.ERROR_RESOURCE, "destroying a completion queue in use", "destroy its VIs first")
        await self.process.syscall()
        await self.process.spend("destroy_queue")
        await self._kernel.free_queue(queue.number)

    async def sleep(self, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let the calling thread sleep until something is done; another thread may have taken it then."""
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        await self._kernel.sleepers.sleep(self.process, over, wants, timeout_us)

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
