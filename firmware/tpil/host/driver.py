"""Kernel driver of TPIL: DMA from host memory by the FPGA card, for use as the `ioctl` of a device."""

from __future__ import annotations

import struct

from firmware.common.host.lock import Lock
from firmware.verbs import Host
from pymodels.card.registers import REGISTERS, CardReg

IDLE = 256
"""Idle-loop turns between two polls; each poll takes the bus from the transfer."""
MOST = 0x8000
"""Bytes of one command: below the register's 65535, and a multiple of 8."""


class CardDma:
    """DMA driver of one FPGA card, shared by all devices of the card.

    A transfer writes source, target and size to the card's registers and polls until the card is done. Concurrent
    transfers take turns.
    """

    def __init__(self, host: Host, card: int) -> None:
        """Create the driver; `card` is the PCI address of the card's window."""
        self._host, self._registers = host, card + REGISTERS
        self._turn = Lock(host, "the card's DMA registers")

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Copy bytes from host memory into the card's memory by DMA, and wait until the card is done.

        Args:
            source: physical address in host memory.
            target: offset in the card's memory, equal to `source` modulo 8.
            size: number of bytes, at most `MOST`.

        Raises:
            ValueError: a misaligned transfer or an invalid size.
        """
        if (source ^ target) & 7 or not 0 < size <= MOST:
            raise ValueError(
                f"DMA of {size} bytes from {source:#x} to {target:#x}: not equal modulo 8, or not 1 to {MOST} bytes"
            )
        async with self._turn:
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
        while await self._host.pio_read(self._registers + CardReg.DMA_BYTES):
            await self._host.spend("look_dma")
            await self._host.spend("idle_turn", IDLE)
