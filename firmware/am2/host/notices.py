"""Notices of the NIC to the driver by interrupts: wanted endpoints, and messages for sleeping owners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.am2.nic.layout import NOTICE_WORDS, NOTICES, Notice
from firmware.am2.nic.words import OWNED
from firmware.common.host.card import acknowledge
from firmware.common.host.words import store_words
from firmware.verbs import Host


class Notices:
    """Interrupt routine of one host and its ring of notices."""

    def __init__(self, host: Host, tell: Callable[[Notice, int], Awaitable[None]]) -> None:
        """Register the interrupt routine, which calls `tell` for each notice."""
        self._host, self._tell = host, tell
        self._read = 0
        self.count = 0
        """Number of interrupts."""
        host.on_interrupt(self._serve)

    async def _serve(self) -> None:
        """Serve an interrupt. The interrupt is cleared first, so that later notices raise it again."""
        host = self._host
        self.count += 1
        await acknowledge(host)
        while True:
            offset = NOTICES + 4 * (self._read % NOTICE_WORDS)
            word = await host.pio_read(host.nic_base + offset)
            await host.spend("am2_notice_read")
            if not word & OWNED:
                return
            self._read += 1
            await store_words(host, offset, 0)
            await self._tell(Notice(word >> 8 & 0xFF), word & 0xFF)
