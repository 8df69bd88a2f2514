"""Doorbell pages: which page of the NIC a process has for the doorbells of its VIs (paper 001, 2.4: up to 256 pairs of
one process in a page), or a page for each VI's pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.host.via.common.errors import Result, VipError
from firmware.nic.via.user_pages import PAGE, Pair
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.nic.via.layout import Layout


class Pairs:
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
