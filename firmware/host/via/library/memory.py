"""The memory that a process has registered with a NIC that it has opened, and its tags (VipRegisterMem...)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.host.via.common.attributes import MemoryAttributes
from firmware.host.via.common.checks import WORD, whole
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.kernel_agent.memory.contiguous import gather
from firmware.host.via.kernel_agent.memory.registry import Region
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel


class Memory:
    """The part of an opened NIC."""

    def __init__(self, kernel: Kernel, process: Process) -> None:
        self._kernel, self.process = kernel, process
        self.host, self.options = kernel.host, kernel.options
        self._tags: set[int] = set()
        self._handles: set[int] = set()
        """Of memory that is registered."""
        self.closed = False

    def check(self, doing: str) -> None:
        """Whether it is open. Raises VipError."""
        if self.closed:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} a NIC that is closed", "open it again")

    def create_ptag(self) -> int:
        """VipCreatePtag: a protection tag; a VI reaches only memory under its own."""
        self.check("asking for a tag of")
        self._tags.add(tag := self._kernel.new_tag())
        return tag

    async def register_memory(
        self, va: int, size: int, tag: int, rdma_write: bool = False, rdma_read: bool = False
    ) -> int:
        """VipRegisterMem: pin a range of memory and let VIs of this tag use it, and their peers write or read it; its
        handle. Raises VipError.
        """
        self.check("registering at")
        self._check_tag(tag)
        whole("the address of memory", va, 0, WORD)
        whole("bytes of memory", size, 1, WORD + 1 - va)
        await self.process.syscall()
        await self.process.spend("register_region")
        if self.options.translation == "flat":
            await gather(self.host, self.process, va, size)
        attributes = MemoryAttributes(tag, rdma_write, rdma_read)
        region = self._kernel.registry.add(self.process, va, size, attributes)
        await self.process.spend("register_page", len(region.frames))
        try:
            await self._kernel.tables.register(region)
        except VipError:
            self._kernel.registry.remove(region)
            raise
        self._handles.add(region.handle)
        return region.handle

    async def deregister_memory(self, handle: int) -> None:
        """VipDeregisterMem. Raises VipError while a posted descriptor uses it."""
        self.check("deregistering at")
        await self.process.syscall()
        region = self._region(handle, "deregistering")
        await self.process.spend("register_page", len(region.frames))
        await self._kernel.deregister(region)
        self._handles.discard(handle)

    async def query_memory(self, handle: int) -> MemoryAttributes:
        """VipQueryMem. Raises VipError."""
        self.check("asking for memory of")
        await self.process.syscall()
        return self._region(handle, "asking for").attributes

    async def set_memory(self, handle: int, attributes: MemoryAttributes) -> None:
        """VipSetMemAttributes. Raises VipError while a posted descriptor uses the memory."""
        self.check("changing memory of")
        self._check_tag(attributes.tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        await self._kernel.change(self._region(handle, "changing"), attributes)

    def _region(self, handle: int, doing: str) -> Region:
        """The region of a handle of this process. Raises VipError."""
        whole("a memory handle", handle, 1, WORD)
        region = self._kernel.registry.get(handle)
        if region is None or region.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} {handle:#x}", "give a handle of this process")
        return region

    def _check_tag(self, tag: int) -> None:
        if type(tag) is not int or tag not in self._tags:
            raise VipError(Result.INVALID_PTAG, f"protection tag {tag}", "make one by create_ptag")
