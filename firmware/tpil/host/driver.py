"""Kernel driver of TPIL: DMA from host memory by the FPGA card, for use as the `ioctl` of a device."""

from __future__ import annotations

import struct

from firmware.common.host.lock import Lock
from firmware.tpil.host.errors import CardGoneError
from firmware.verbs import Host
from pymodels.card.registers import REGISTERS, CardReg
from pymodels.host import UnansweredError

IDLE = 256
"""Idle-loop turns between two polls; each poll takes the bus from the transfer."""
PATIENCE = 10_000
"""Polls after which a transfer counts as lost: 30 ms or more, a hundred times the time of `MOST` bytes at 33 MHz."""
LEFT = 0xFFFF
"""Greatest value of DMA_BYTES. A bus on which no card answers reads as ones."""
ALL = 0xFFFFFFFF
"""Word that a bus without an answer reads as."""
MOST = 0x8000
"""Bytes of one command: below the register's 65535, and a multiple of 8."""


class CardDma:
    """DMA driver of one FPGA card, shared by all devices of the card.

    A transfer writes source, target and size to the card's registers and polls until the card is done. Concurrent
    transfers take turns. After a transfer that the card did not finish, every further one fails at once.
    """

    def __init__(self, host: Host, card: int, turn: Lock | None = None) -> None:
        """Create the driver.

        Args:
            host: Host of the card.
            card: PCI address of the card's window.
            turn: Lock of the DMA registers, of another driver that uses them too: `grim.card.dma_turn`.
        """
        self._host, self._registers = host, card + REGISTERS
        self._turn = turn or Lock(host, "the card's DMA registers")
        self._lost = ""
        """Description of the failure after which the card is not used any more."""

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Copy bytes from host memory into the card's memory by DMA, and wait until the card is done.

        Args:
            source: physical address in host memory.
            target: offset in the card's memory, equal to `source` modulo 8.
            size: number of bytes, at most `MOST`.

        Raises:
            ValueError: a misaligned transfer or an invalid size.
            CardGoneError: the card does not answer, or has not finished after PATIENCE polls.
        """
        if (source ^ target) & 7 or not 0 < size <= MOST:
            raise ValueError(
                f"DMA of {size} bytes from {source:#x} to {target:#x}: not equal modulo 8, or not 1 to {MOST} bytes"
            )
        async with self._turn:
            if self._lost:
                raise self._gone(self._lost)
            await self._host.spend("take_card")
            await self._fetch(source, target, size)
            await self._host.spend("give_card")

    async def _fetch(self, source: int, target: int, size: int) -> None:
        """Run one DMA command and poll until the card is done."""
        await self._host.spend("start_dma")
        for register, value in (
            (CardReg.DMA_SOURCE, source),
            (CardReg.DMA_TARGET, target),
            (CardReg.DMA_BYTES, size),
        ):
            await self._host.pio_write(self._registers + register, struct.pack(">I", value))
        for _ in range(PATIENCE):
            try:
                left = await self._host.pio_read(self._registers + CardReg.DMA_BYTES)
            except UnansweredError:
                left = ALL
            if not left:
                return
            if left > LEFT:
                raise self._gone(f"it does not answer during a transfer of {size} bytes to {target:#x}")
            await self._host.spend("look_dma")
            await self._host.spend("idle_turn", IDLE)
        raise self._gone(f"it has not finished {size} bytes to {target:#x} after {PATIENCE} polls")

    def _gone(self, why: str) -> CardGoneError:
        """Return the error for a lost card, and refuse all further transfers."""
        self._lost = why
        return CardGoneError("card", why, "reset the card and create its driver again")
