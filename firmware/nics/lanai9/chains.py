"""The host DMA of a LANai 9: the engine carries chains out by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from firmware.common.nic.host_dma import DONE, flag_watch
from firmware.common.nic.services import Service, Step
from firmware.verbs import Nic
from pymodels.registers import Isr, Reg

WAKES = {0: DONE, 1: DONE, 2: 1 << Isr.WAKE2, 3: 1 << Isr.WAKE2}


class HardwareChains:
    """PULSE starts a chain."""

    def __init__(self, nic: Nic) -> None:
        self._nic = nic

    async def pulse(self, chain: int) -> None:
        """Start or continue a chain."""
        self._nic.write(Reg.PULSE, 1 << chain)

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """One step for each chain: no two of those in use share a flag."""
        return [
            (flag_watch(path, WAKES[chain]), self._acknowledge(WAKES[chain], step)) for chain, step in woken.items()
        ]

    def _acknowledge(self, flag: int, step: Step) -> Step:
        def served() -> Awaitable[int | None]:
            """The flag is cleared before blocks are looked at: one that ends in between raises it again."""
            self._nic.write(Reg.ISR, flag)
            return step()

        return served
