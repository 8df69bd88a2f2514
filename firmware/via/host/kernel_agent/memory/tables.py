"""Tables of registered regions that the NIC reads: the regions, and the page frames of each (paper 001, 2.2.3).

The frames are in the NIC's memory (AT2), or in host memory (AT3, and RDMA writes by lookup). A flat region has no
table.
"""

from __future__ import annotations

import struct

from firmware.common.host.words import store_words
from firmware.verbs import Host
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.memory.registry import Region
from firmware.via.nic.layout import RDMA_READ, RDMA_WRITE, Layout
from pymodels.host.pages import PAGE

BURST = 256
"""Number of table words written to the NIC in one burst."""


class Tables:
    """Tables of one host."""

    def __init__(self, host: Host, layout: Layout) -> None:
        self._host, self._layout = host, layout
        options = layout.options
        self._all, self._rdma = options.user_level, options.rdma == "table"
        self._on_nic, self._flat = options.translation == "at2", options.translation == "flat"
        self._free: dict[int, list[int]] = {}
        """Free tables by their size in words."""
        self._next = layout.tables
        self._end = layout.tables + 4 * options.table_words if self._on_nic else 0
        self._places: dict[int, tuple[int, int]] = {}
        """Address and size in words of each table, by handle."""

    def _wanted(self, region: Region) -> bool:
        return self._all or bool(region.rdma & (RDMA_READ | self._rdma * RDMA_WRITE))

    async def register(self, region: Region) -> None:
        """Make a region known to the NIC. Raises VipError if there is no room for its table."""
        if not self._wanted(region):
            return
        words = 0 if self._flat else len(region.frames)
        table = self._take(words) if words else region.frames[0]
        self._places[region.handle] = table, words
        if self._on_nic:
            for at in range(0, words, BURST):
                part = region.frames[at : at + BURST]
                await self._host.pio_write(self._host.nic_base + table + 4 * at, struct.pack(f">{len(part)}I", *part))
        elif words:
            self._host.store_words(table, region.frames)
        row = region.handle, region.va, region.size, region.tag, table, region.rdma
        await store_words(self._host, self._layout.region(region.handle), *row)

    def _take(self, words: int) -> int:
        """Return the address of a free or new table."""
        rounded = words if self._on_nic else -(-4 * words // PAGE) * PAGE // 4
        free = self._free.setdefault(rounded, [])
        if free:
            return free.pop()
        if not self._on_nic:
            return self._host.allocate(4 * rounded).address
        if self._next + 4 * rounded > self._end:
            what = f"a table of {words} pages"
            raise VipError(Result.ERROR_RESOURCE, what, "register less, or raise via.table_words")
        self._next += 4 * rounded
        return self._next - 4 * rounded

    async def withdraw(self, region: Region) -> None:
        """Make a region unknown to the NIC (handle 0 is never valid). The NIC may still use earlier translations."""
        if self._wanted(region):
            await store_words(self._host, self._layout.region(region.handle), 0)

    def free(self, region: Region) -> None:
        """Free the table of a region that the NIC no longer uses."""
        if not self._wanted(region):
            return
        table, words = self._places.pop(region.handle)
        if words:
            rounded = words if self._on_nic else -(-4 * words // PAGE) * PAGE // 4
            self._free[rounded].append(table)
