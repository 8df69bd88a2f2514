"""NI memory that applications use directly (paper 003, C.5.3)."""

from __future__ import annotations

from firmware.grim.host.arguments import whole
from firmware.grim.host.calls import Calls
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.entries import PAGE
from firmware.verbs import Host
from pymodels.host.process import Process


class ReservedMemory:
    """Table C.7. The memory is taken from the end of the NI's SRAM, behind all that the firmware uses, in whole pages:
    they are mapped into the application's address space, and nothing else of the NI is.
    """

    def __init__(self, host: Host, layout: Layout, calls: Calls) -> None:
        self._host, self._layout, self._calls = host, layout, calls
        self.size = 0
        """Bytes that are reserved."""
        self._mapped = 0
        self.application: Process
        """The address space in which the NI's memory is mapped, after `grim_enable`: what the application accesses it
        with (`pio_write`, `pio_read`)."""

    def reserve_ni_memory(self, size: int) -> None:
        """`grim_reserveNIMemory`: before `grim_enable`, once. Raises GrimError."""
        if self._calls.enabling:
            raise GrimError("grim_enable", "was called before", "reserve NI memory first")
        if self.size:
            raise GrimError("size", f"{self.size} bytes are reserved already", "reserve all at once")
        left = (self._layout.sram_bytes & -PAGE) - self._layout.end & -PAGE
        if not 0 < whole("size", size) <= left:
            cause = f"{size}: of {self._layout.sram_bytes} bytes the firmware leaves {left} in whole pages"
            raise GrimError("size", cause, "ask for less, or make option queue_bytes smaller")
        self.size = -(-size // PAGE) * PAGE

    async def map(self) -> None:
        """In `grim_enable`: a system call maps what was reserved."""
        if self.size:
            await self._host.syscall()
            self.application = self._host.process("application")
            self._mapped = self.application.map_device(self._physical, self.size // PAGE)

    @property
    def _physical(self) -> int:
        return self._host.nic_base + (self._layout.sram_bytes & -PAGE) - self.size

    def get_reserved_ni_memory(self) -> tuple[int, int]:
        """`grim_getReservedNIMemory`: virtual and physical address of what was reserved. Raises GrimError."""
        self._calls.ready()
        if not self.size:
            raise GrimError("reserve_ni_memory", "was not called before grim_enable", "reserve some")
        return self._mapped, self._physical
