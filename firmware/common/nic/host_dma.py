"""The host DMA as a firmware uses it: chains of control blocks in SRAM, whatever the NIC has.

A LANai 9 executes chains by itself: PULSE starts one, a finished block is marked TERMINAL, WAKE1 or WAKE2 tells of
those that ask for it. A LANai 4 has one transfer at a time (EAR, LAR, DMA_DIR, DMA_CTR; fact sheet 3.6): there the
firmware keeps the same blocks, starts the next one when the engine's bit shows in ISR, and marks them itself. What is
appended meanwhile waits. Chain 0 goes first on both (readings A10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from firmware.common.nic.services import Service, Step
from firmware.verbs import Watch
from pymodels.registers import Flag, Isr, Reg

DONE = 1 << Isr.WAKE1
"""LANai 9: a block of chain 0 or 1 asked for it. LANai 4: the transfer is over (DMA_INT, the same bit)."""
TERMINAL, WAKE, E2L = int(Flag.TERMINAL), int(Flag.WAKE), int(Flag.E2L)


class HostDma(Protocol):
    """Chains of control blocks."""

    async def pulse(self, chain: int) -> None:
        """Start a chain on the blocks that were appended."""

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """What the polling loop must look at: `woken` is done when a block with WAKE is finished, by chain.

        `path` is the compiled cost of looking at a bit of ISR.
        """


def flag_watch(path: str, flag: int) -> Watch:
    """The step of a polling loop that looks at a bit of ISR."""
    return Watch(Reg.ISR, 0, path, flag, register=True)
