"""NI memory that applications use directly (paper 003, C.5.3)."""

from __future__ import annotations

from firmware.host.grim.arguments import whole
from firmware.host.grim.core import Core
from firmware.host.grim.errors import GrimError
from firmware.layers import ClusterView
from firmware.verbs import Host

NI_VA = 0xC000_0000
"""Virtual address at which the library maps the NI's memory (ours)."""


class ReservedMemory(Core):
    """Table C.7. The memory is taken from the end of the NI's SRAM, behind all that the firmware uses."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        super().__init__(host, view)
        self._reserved = 0

    def reserve_ni_memory(self, size: int) -> None:
        """`grim_reserveNIMemory`: before `grim_enable`, once. Raises GrimError."""
        if self._enabling:
            raise GrimError("grim_enable", "was called before", "reserve NI memory first")
        if self._reserved:
            raise GrimError("size", f"{self._reserved} bytes are reserved already", "reserve all at once")
        left = self.layout.sram_bytes - self.layout.end & ~7
        if not 0 < whole("size", size) <= left:
            cause = f"{size}: of {self.layout.sram_bytes} bytes the firmware leaves {left}"
            raise GrimError("size", cause, "ask for less, or make option queue_bytes smaller")
        self._reserved = size

    def get_reserved_ni_memory(self) -> tuple[int, int]:
        """`grim_getReservedNIMemory`: virtual and physical address of what was reserved. Raises GrimError."""
        self._ready()
        if not self._reserved:
            raise GrimError("reserve_ni_memory", "was not called before grim_enable", "reserve some")
        offset = self.layout.sram_bytes - self._reserved & ~7
        return NI_VA + offset, self.host.nic_base + offset
