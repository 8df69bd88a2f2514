"""The kernel's half: DMA by the FPGA card out of host memory, as the `ioctl` that TPIL may be given."""

from __future__ import annotations

import struct

from firmware.common.host.lock import Lock
from firmware.verbs import Host
from pymodels.card.registers import REGISTERS, CardReg

IDLE = 256
"""Turns of an idle loop between two looks: each look takes the bus from the transfer."""
MOST = 0x8000
"""Bytes of one command: less than the register's 65535, and a multiple of 8."""


class CardDma:
    """Card-mastered DMA: source, target and bytes into the card's registers, then looks until it is done.

    It is the card's driver: all devices of the card share it, and its registers have one user at a time.
    """

    def __init__(self, host: Host, card: int) -> None:
        """`card`: PCI address of the card's window."""
        self._host, self._registers = host, card + REGISTERS
        self._turn = Lock(host, "the card's DMA registers")

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Let the card fetch `size` bytes at the physical address `source` to offset `target` of its memory.

        Both must stand alike within 8 bytes. Returns when the card is done. Raises ValueError.
        """
        if (source ^ target) & 7 or not 0 < size <= MOST:
            raise ValueError(f"DMA of {size} bytes from {source:#x} to {target:#x}: not alike within 8 bytes, or long")
        async with self._turn:
            await self._host.spend("take_card")
            await self._fetch(source, target, size)
            await self._host.spend("give_card")

    async def _fetch(self, source: int, target: int, size: int) -> None:
        """One command, until the card is done."""
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
