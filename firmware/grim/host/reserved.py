"""NI memory that applications access directly (paper 003, C.5.3)."""

from __future__ import annotations

from firmware.grim.host.arguments import whole
from firmware.grim.host.calls import Calls
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.entries import PAGE
from firmware.verbs import Host
from pymodels.host.process import Process


class ReservedMemory:
    """Calls of table C.7.

    The reserved memory is at the end of the NI's SRAM, behind the firmware's areas, in whole pages. Only these pages of
    the NI are mapped into the application's address space.
    """

    def __init__(self, host: Host, layout: Layout, calls: Calls) -> None:
        self._host, self._layout, self._calls = host, layout, calls
        self.size = 0
        """Number of reserved bytes."""
        self._mapped = 0
        self.application: Process
        """Process in whose address space the memory is mapped after `grim_enable`, for `pio_write` and `pio_read`."""

    def reserve_ni_memory(self, size: int) -> None:
        """Reserve NI memory, once and before `grim_enable` (`grim_reserveNIMemory`). Raises GrimError."""
        if self._calls.enabling:
            raise GrimError("grim_enable", "was called before", "reserve NI memory first")
        if self.size:
            raise GrimError("size", f"{self.size} bytes are already reserved", "reserve all at once")
        left = (self._layout.sram_bytes & -PAGE) - self._layout.end & -PAGE
        if not 0 < whole("size", size) <= left:
            cause = f"{size} bytes, but the firmware leaves {left} of {self._layout.sram_bytes} bytes in whole pages"
            raise GrimError("size", cause, "reserve less, or reduce option queue_bytes")
        self.size = -(-size // PAGE) * PAGE

    async def map(self) -> None:
        """Map the reserved memory by a system call, in `grim_enable`."""
        if self.size:
            await self._host.syscall()
            self.application = self._host.process("application")
            self._mapped = self.application.map_device(self._physical, self.size // PAGE)

    @property
    def _physical(self) -> int:
        return self._host.nic_base + (self._layout.sram_bytes & -PAGE) - self.size

    def get_reserved_ni_memory(self) -> tuple[int, int]:
        """Return the virtual and physical address of the reserved memory (`grim_getReservedNIMemory`).

        Raises GrimError if none is reserved.
        """
        self._calls.ready()
        if not self.size:
            raise GrimError("reserve_ni_memory", "was not called before grim_enable", "reserve some")
        return self._mapped, self._physical
