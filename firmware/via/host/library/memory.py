"""Memory that a process has registered with an open NIC, and its protection tags (VipRegisterMem...)."""

from __future__ import annotations

from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.host.common.checks import WORD, check_integer
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.memory.registry import Region
from firmware.via.host.library.open_nic import OpenNic
from pymodels.host.process import Process


class MemoryCalls(OpenNic):
    """Memory calls of an open NIC."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        super().__init__(agent, process)
        self._handles: set[int] = set()
        """Handles of the registered memory."""

    def create_ptag(self) -> int:
        """Return a new protection tag (VipCreatePtag). A VI can access only memory under its own tag."""
        self.check("creating a tag of")
        self.tags.add(tag := self.agent.new_tag())
        return tag

    async def register_memory(
        self, va: int, size: int, tag: int, rdma_write: bool = False, rdma_read: bool = False
    ) -> int:
        """Pin and register memory (VipRegisterMem), and return its handle. Raises VipError.

        Args:
            va: Virtual address.
            size: Size in bytes.
            tag: Protection tag of the VIs that may use the memory.
            rdma_write: True if their peers may write it.
            rdma_read: True if their peers may read it.
        """
        self.check("registering at")
        self.check_tag(tag)
        check_integer("the address of memory", va, 0, WORD)
        check_integer("bytes of memory", size, 1, WORD + 1 - va)
        await self.process.syscall()
        await self.process.spend("register_region")
        region = await self.agent.registration.register(
            self.process, va, size, MemoryAttributes(tag, rdma_write, rdma_read)
        )
        self._handles.add(region.handle)
        return region.handle

    async def deregister_memory(self, handle: int) -> None:
        """Deregister memory (VipDeregisterMem). Raises VipError while a posted descriptor uses it."""
        self.check("deregistering at")
        await self.process.syscall()
        region = self._region(handle, "deregistering")
        await self.process.spend("register_page", len(region.frames))
        await self.agent.registration.deregister(region)
        self._handles.discard(handle)

    async def query_memory(self, handle: int) -> MemoryAttributes:
        """Return the attributes of registered memory (VipQueryMem). Raises VipError."""
        self.check("querying memory of")
        await self.process.syscall()
        return self._region(handle, "querying").attributes

    async def set_memory(self, handle: int, attributes: MemoryAttributes) -> None:
        """Set attributes (VipSetMemAttributes). Raises VipError while a posted descriptor uses the memory."""
        self.check("changing memory of")
        self.check_tag(attributes.tag)
        await self.process.syscall()
        await self.process.spend("register_region")
        await self.agent.registration.change(self._region(handle, "changing"), attributes)

    def _region(self, handle: int, doing: str) -> Region:
        """Return the region of a handle of this process. Raises VipError."""
        check_integer("a memory handle", handle, 1, WORD)
        region = self.agent.registry.get(handle)
        if region is None or region.process is not self.process:
            raise VipError(
                Result.INVALID_PARAMETER, f"{doing} memory handle {handle:#x}", "give a handle of this process"
            )
        return region
