"""Interrupt mode: a packet that arrives while no task polls interrupts the host.

The NIC interrupts once, until the host enables it again. Tasks that wait for packets poll, so the interrupt is enabled
again only when the last of them has finished.
"""

from __future__ import annotations

from firmware.common.host.card import acknowledge
from firmware.common.host.words import store_words
from firmware.hal.host.receiving import Receiver
from firmware.hal.nic.layout import Word
from firmware.verbs import Host

TURNS = 64
"""Turns of the interrupt routine's delay loop between two polls."""


class Interrupts:
    """Interrupt mode of one host."""

    def __init__(self, host: Host, receiver: Receiver, delay_us: int) -> None:
        """Create interrupt mode, switched off; `delay_us` is the default delay of the interrupt routine."""
        self._host, self._receiver, self._usual_us, self._delay_us = host, receiver, delay_us, delay_us
        self.on = False
        self._asked = False
        """True while the NIC's interrupt is enabled."""
        self.waiting = 0
        """Number of tasks that wait for packets."""
        self.count = 0
        """Number of interrupts so far."""

    async def switch(self, on: bool, delay_us: int | None = None) -> None:
        """Switch interrupt mode; `delay_us` is the delay of the interrupt routine, None for the default."""
        self.on = on
        self._delay_us = self._usual_us if delay_us is None else delay_us
        if on:
            await self.enable()
        elif self._asked:
            self._asked = False
            await store_words(self._host, Word.INTERRUPT, 0)

    async def enable(self) -> None:
        """Enable the NIC's interrupt unless a task polls, then poll once for packets that arrived before.

        An interrupt during this poll leaves its packet to the poll; then the interrupt is enabled again.
        """
        host = self._host
        while self.on and not (self._asked or self.waiting or self._receiver.busy):
            self._asked = True
            await host.spend("hal_ask")
            await store_words(host, Word.INTERRUPT, 1)
            await host.pio_read(host.nic_base + Word.INTERRUPT)  # posted store done: later packets interrupt
            await self._receiver.poll()

    async def serve(self) -> None:
        """Handle an interrupt: hand packets over, and poll for further ones until the delay has passed."""
        host = self._host
        self.count += 1
        self._asked = False
        await host.spend("hal_serve")
        await acknowledge(host)
        if self.waiting or self._receiver.busy:
            return
        await self._receiver.poll()
        delay = self._delay_us * 1_000_000
        end = host.now + delay
        while host.now < end:
            await host.spend("hal_pause", TURNS)
            if await self._receiver.poll():
                end = host.now + delay
        await self.enable()
