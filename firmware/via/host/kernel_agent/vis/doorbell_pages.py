"""Pages of the NIC that processes map: queue caches of each VI, and doorbells of a VI or of a process.

A page has the doorbells of up to 256 VIs of one process (paper 001, 2.4).
"""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.nic.layout import Command, Layout, Vi
from firmware.via.nic.user_pages import PAGE, Pair
from pymodels.host.process import Process
from pymodels.registers import Pci


class DoorbellPages:
    """Doorbell pages of one NIC."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shared = layout.options.user_level and layout.options.pages == "process"
        self._owners: list[Process | None] = [None] * layout.options.processes
        self._places = [0] * layout.options.processes
        """Virtual address of each mapped page."""
        self._users: list[set[int]] = [set() for _ in self._owners]
        """VIs with doorbells in each page."""

    def take(self, process: Process, vi: int) -> int:
        """Reserve the doorbells of a process's VI, and return their SRAM address. Raises VipError."""
        index = 0
        if self._shared:
            wanted = process if process in self._owners else None
            if wanted not in self._owners:
                raise VipError(Result.ERROR_RESOURCE, "a page for doorbells", "close VIs, or raise via.processes")
            index = self._owners.index(wanted)
            self._owners[index] = process
            self._users[index].add(vi)
        return self._layout.pair(vi, index)

    def map(self, process: Process, vi: int, page: int) -> int:
        """Return the virtual address of the doorbells. `page` is that of the VI's own page."""
        if not self._shared:
            return page
        index = self._owners.index(process)
        if not self._places[index]:
            self._places[index] = process.map_nic(self._layout.pairs // PAGE + index)
        return self._places[index] + Pair.BYTES * vi

    def give_back(self, process: Process, vi: int) -> None:
        """Free the doorbells of a VI."""
        if not self._shared or process not in self._owners:
            return
        index = self._owners.index(process)
        self._users[index].discard(vi)
        if not self._users[index]:
            if self._places[index]:
                process.unmap(self._places[index])
            self._owners[index], self._places[index] = None, 0


class UserPages:
    """Mapped pages of one VI; none without user-level doorbells."""

    def __init__(self, shared: Shared, doorbells: DoorbellPages, vi: ViContext) -> None:
        self._shared, self._doorbells, self._vi = shared, doorbells, vi
        self._place = 0
        """SRAM address of the doorbells."""
        self.page = self.pair = self.bell = 0
        """Virtual addresses of queue caches, doorbells, and page of the card's doorbell region; 0 for none."""

    def take(self, process: Process) -> None:
        """Reserve the doorbells. Raises VipError."""
        self._place = self._doorbells.take(process, self._vi.number)

    async def open(self) -> None:
        """Map the pages into the process, with empty doorbells."""
        shared, vi = self._shared, self._vi
        if not shared.options.user_level:
            return
        await store_words(shared.host, self._place, 0, 0, 0, 0)
        await vi.write(Vi.PAIR, self._place)
        await shared.commands.do(Command.RESET, vi)
        self.page = vi.owner.map_nic(shared.layout.page(vi.number) // PAGE)
        self.pair = self._doorbells.map(vi.owner, vi.number, self.page)
        if shared.options.doorbell == "hw":
            self.bell = vi.owner.map_device(shared.host.nic_base + Pci.DOORBELL + PAGE * vi.number)

    async def close(self) -> None:
        """Unmap the pages. The NIC stops polling them."""
        if self.page:
            await self._shared.commands.do(Command.LEAVE, self._vi)
        owner = self._vi.owner
        for mapped in (self.page, self.bell):
            if mapped:
                owner.unmap(mapped)
        self._doorbells.give_back(owner, self._vi.number)
        self.page = self.pair = self.bell = 0
