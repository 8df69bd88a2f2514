"""The pages of the NIC that processes have: one for each VI's queue caches, and one for the doorbells of a VI, or of
all VIs of a process (paper 001, 2.4: up to 256 pairs of one process in a page).
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
    """The pages of one NIC."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shared = layout.options.user_level and layout.options.pages == "process"
        self._owners: list[Process | None] = [None] * layout.options.processes
        self._places = [0] * layout.options.processes
        """Where each is mapped."""
        self._users: list[set[int]] = [set() for _ in self._owners]
        """VIs whose doorbells are in each."""

    def take(self, process: Process, vi: int) -> int:
        """Room for the doorbells of a process's VI: their address in the NIC's memory. Raises VipError."""
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
        """Where the process has them; `page`: where it has the VI's page."""
        if not self._shared:
            return page
        index = self._owners.index(process)
        if not self._places[index]:
            self._places[index] = process.map_nic(self._layout.pairs // PAGE + index)
        return self._places[index] + Pair.BYTES * vi

    def give_back(self, process: Process, vi: int) -> None:
        """They are no longer used."""
        if not self._shared or process not in self._owners:
            return
        index = self._owners.index(process)
        self._users[index].discard(vi)
        if not self._users[index]:
            if self._places[index]:
                process.unmap(self._places[index])
            self._owners[index], self._places[index] = None, 0


class UserPages:
    """Those of one VI. Without user-level doorbells there is none."""

    def __init__(self, shared: Shared, doorbells: DoorbellPages, vi: ViContext) -> None:
        self._shared, self._doorbells, self._vi = shared, doorbells, vi
        self._place = 0
        """Of its doorbells in the NIC's memory."""
        self.page = self.pair = self.bell = 0
        """Where the process has its queue caches, its doorbells, its page of the card's doorbell region; 0: none."""

    def take(self, process: Process) -> None:
        """Have room for the doorbells. Raises VipError."""
        self._place = self._doorbells.take(process, self._vi.number)

    async def open(self) -> None:
        """Let the process write them; the doorbells are empty."""
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
        """Take them back: the NIC looks at them no longer."""
        if self.page:
            await self._shared.commands.do(Command.LEAVE, self._vi)
        owner = self._vi.owner
        for mapped in (self.page, self.bell):
            if mapped:
                owner.unmap(mapped)
        self._doorbells.give_back(owner, self._vi.number)
        self.page = self.pair = self.bell = 0
