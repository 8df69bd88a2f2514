"""Host DMA of a LANai 9, whose engine executes chains itself."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from firmware.common.nic.host_dma import DONE, flag_watch
from firmware.common.nic.services import Service, Step
from firmware.verbs import Nic
from pymodels.registers import Isr, Reg

WAKES = {0: DONE, 1: DONE, 2: 1 << Isr.WAKE2, 3: 1 << Isr.WAKE2}


class HardwareChains:
    """Chains started by the register PULSE."""

    def __init__(self, nic: Nic) -> None:
        self._nic = nic

    async def pulse(self, chain: int) -> None:
        """Start or continue a chain."""
        self._nic.write(Reg.PULSE, 1 << chain)

    async def resume(self, chain: int) -> None:
        """Continue a chain that a bus abort has stopped; a block without bytes is done at once."""
        self._nic.write(Reg.PULSE, 1 << chain)

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """Return one service for each chain. No two chains in use share a flag."""
        return [
            (flag_watch(path, WAKES[chain]), self._acknowledge(WAKES[chain], step)) for chain, step in woken.items()
        ]

    def _acknowledge(self, flag: int, step: Step) -> Step:
        def served() -> Awaitable[int | None]:
            """Clear the flag, then check the blocks: a block that ends meanwhile sets it again."""
            self._nic.write(Reg.ISR, flag)
            return step()

        return served
