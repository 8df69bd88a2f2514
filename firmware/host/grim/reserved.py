"""NI memory that applications use directly (paper 003, C.5.3)."""

from __future__ import annotations

from firmware.host.grim.arguments import whole
from firmware.host.grim.core import Core
from firmware.host.grim.errors import GrimError
from firmware.layers import ClusterView
from firmware.nic.grim.entries import PAGE
from firmware.verbs import Host
from pymodels.host.process import Process


class ReservedMemory(Core):
    """Table C.7. The memory is taken from the end of the NI's SRAM, behind all that the firmware uses, in whole pages:
    they are mapped into the application's address space, and nothing else of the NI is.
    """

    def __init__(self, host: Host, view: ClusterView) -> None:
        super().__init__(host, view)
        self._reserved = 0
        self._mapped = 0
        self.application: Process
        """The address space in which the NI's memory is mapped, after `grim_enable`: what the application accesses it
        with (`pio_write`, `pio_read`)."""

    def reserve_ni_memory(self, size: int) -> None:
        """`grim_reserveNIMemory`: before `grim_enable`, once. Raises GrimError."""
        if self._enabling:
            raise GrimError("grim_enable", "was called before", "reserve NI memory first")
        if self._reserved:
            raise GrimError("size", f"{self._reserved} bytes are reserved already", "reserve all at once")
        left = (self.layout.sram_bytes & -PAGE) - self.layout.end & -PAGE
        if not 0 < whole("size", size) <= left:
            cause = f"{size}: of {self.layout.sram_bytes} bytes the firmware leaves {left} in whole pages"
            raise GrimError("size", cause, "ask for less, or make option queue_bytes smaller")
        self._reserved = -(-size // PAGE) * PAGE

    async def _map_reserved(self) -> None:
        """In `grim_enable`: a system call maps what was reserved."""
        if self._reserved:
            await self.host.syscall()
            self.application = self.host.process("application")
            self._mapped = self.application.map_device(self._physical, self._reserved // PAGE)

    @property
    def _physical(self) -> int:
        return self.host.nic_base + (self.layout.sram_bytes & -PAGE) - self._reserved

    def get_reserved_ni_memory(self) -> tuple[int, int]:
        """`grim_getReservedNIMemory`: virtual and physical address of what was reserved. Raises GrimError."""
        self._ready()
        if not self._reserved:
            raise GrimError("reserve_ni_memory", "was not called before grim_enable", "reserve some")
        return self._mapped, self._physical
