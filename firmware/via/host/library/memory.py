"""The memory that a process has registered with a NIC that it has opened, and its tags (VipRegisterMem...)."""

from __future__ import annotations

from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.host.common.checks import WORD, whole
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.memory.registry import Region
from firmware.via.host.library.open_nic import OpenNic
from pymodels.host.process import Process


class MemoryCalls(OpenNic):
    """The calls of an open NIC that deal with memory."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        super().__init__(agent, process)
        self._handles: set[int] = set()
        """Of memory that is registered."""

    def create_ptag(self) -> int:
        """VipCreatePtag: a protection tag; a VI reaches only memory under its own."""
        self.check("asking for a tag of")
        self.tags.add(tag := self.agent.new_tag())
        return tag

    async def register_memory(
        self, va: int, size: int, tag: int, rdma_write: bool = False, rdma_read: bool = False
    ) -> int:
        """VipRegisterMem: pin a range of memory and let VIs of this tag use it, and their peers write or read it; its
        handle. Raises VipError.
        """
        self.check("registering at")
        self.check_tag(tag)
        whole("the address of memory", va, 0, WORD)
        whole("bytes of memory", size, 1, WORD + 1 - va)
        await self.process.syscall()
        await self.process.spend("register_region")
        region = await self.agent.registration.register(
            self.process, va, size, MemoryAttributes(tag, rdma_write, rdma_read)
        )
        self._handles.add(region.handle)
        return region.handle

    async def deregister_memory(self, handle: int) -> None:
        """VipDeregisterMem. Raises VipError while a posted descriptor uses it."""
        self.check("deregistering at")
        await self.process.syscall()
        region = self._region(handle, "deregistering")
        await self.process.spend("register_page", len(region.frames))
        await self.agent.registration.deregister(region)
        self._handles.discard(handle)

    async def query_memory(self, handle: int) -> MemoryAttributes:
        """VipQueryMem. Raises VipError."""
        self.check("asking for memory of")
        await self.process.syscall()
        return self._region(handle, "asking for").attributes

    async def set_memory(self, handle: int, attributes: MemoryAttributes) -> None:
        """VipSetMemAttributes. Raises VipError while a posted descriptor uses the memory."""
        self.check("changing memory of")
        self.check_tag(attributes.tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        await self.agent.registration.change(self._region(handle, "changing"), attributes)

    def _region(self, handle: int, doing: str) -> Region:
        """The region of a handle of this process. Raises VipError."""
        whole("a memory handle", handle, 1, WORD)
        region = self.agent.registry.get(handle)
        if region is None or region.process is not self.process:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} {handle:#x}", "give a handle of this process")
        return region
