"""Registration of memory for processes: register, change, deregister."""

from __future__ import annotations

from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.memory.contiguous import gather
from firmware.via.host.kernel_agent.memory.registry import Region, Registry
from firmware.via.host.kernel_agent.memory.tables import Tables
from firmware.via.host.kernel_agent.remote_writes import RemoteWrites
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Command
from pymodels.host.process import Process


class Registration:
    """Memory registration of one host."""

    def __init__(self, registry: Registry, tables: Tables, vis: ViTable, writes: RemoteWrites) -> None:
        self._registry, self._tables, self._vis, self._writes = registry, tables, vis, writes
        self._shared = vis.shared

    async def register(self, process: Process, va: int, size: int, attributes: MemoryAttributes) -> Region:
        """Pin a range, and make it known to a NIC that translates addresses. Raises VipError."""
        if self._shared.options.translation == "flat":
            await gather(self._shared.host, process, va, size)
        region = self._registry.add(process, va, size, attributes)
        await process.spend("register_page", len(region.frames))
        try:
            await self._tables.register(region)
        except VipError:
            self._registry.remove(region)
            raise
        return region

    async def deregister(self, region: Region) -> None:
        """Deregister a region and unpin its pages. Raises VipError if a posted descriptor uses it."""
        await self._withdraw(region)
        self._registry.remove(region)

    async def change(self, region: Region, attributes: MemoryAttributes) -> None:
        """Change the attributes of a region. Raises VipError if a posted descriptor uses it."""
        await self._withdraw(region)
        await self._tables.register(self._registry.replace(region, attributes))

    async def _withdraw(self, region: Region) -> None:
        """Hide a region, and wait until it is no longer in use. Raises VipError if a posted descriptor uses it."""
        self._registry.hide(region)
        async with self._shared.lock:  # posts that found the region earlier are now complete
            users = [vi for vi in self._vis if vi.context.process is region.process]
            busy = [vi.context.number for vi in users if await vi.posting.uses(region)]
        if busy:
            self._registry.unhide(region)
            what = f"deregistering or changing memory that VI {busy[0]} uses"
            raise VipError(Result.ERROR_RESOURCE, what, "wait for its descriptors to complete")
        await self._writes.left(region)
        await self._tables.withdraw(region)
        await self._shared.commands.do(Command.FENCE, self._vis.agents)
        self._tables.free(region)
