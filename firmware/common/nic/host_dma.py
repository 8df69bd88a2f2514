"""Firmware interface of the host DMA on any NIC: chains of control blocks in SRAM.

A LANai 9 executes chains in hardware: PULSE starts one, a finished block is marked TERMINAL, and WAKE1 or WAKE2 reports
blocks with the flag WAKE. A LANai 4 has one transfer at a time (EAR, LAR, DMA_DIR, DMA_CTR; fact sheet 3.6). There the
firmware keeps the same blocks, starts the next one when the engine's bit is set in ISR, and marks finished blocks. New
blocks wait during a transfer. Chain 0 has priority on both (readings A10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from firmware.common.nic.services import Service, Step
from firmware.verbs import Watch
from pymodels.registers import Flag, Isr, Reg

DONE = 1 << Isr.WAKE1
"""Bit of ISR. LANai 9: a block of chain 0 or 1 with WAKE has finished. LANai 4: the transfer has ended (DMA_INT)."""
ABORTED = 1 << Isr.DMA_ERROR
"""Bit of ISR: a bus abort has stopped a chain at its current block."""
TERMINAL, WAKE, E2L = int(Flag.TERMINAL), int(Flag.WAKE), int(Flag.E2L)


class HostDma(Protocol):
    """Chains of control blocks."""

    async def pulse(self, chain: int) -> None:
        """Start a chain on the appended blocks."""

    async def resume(self, chain: int) -> None:
        """Continue a chain that a bus abort has stopped, at its stopped block, whose length is now 0."""

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """Return the services that the polling loop needs.

        Args:
            woken: Handler by chain, run when a block with WAKE has finished.
            path: Compiled cost of one sample of a bit of ISR.
        """


def flag_watch(path: str, flag: int) -> Watch:
    """Return the watch for a bit of ISR."""
    return Watch(Reg.ISR, 0, path, flag, register=True)
