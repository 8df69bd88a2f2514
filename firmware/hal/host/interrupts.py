"""Interrupt mode: a packet that comes while nobody polls interrupts the host.

The NIC interrupts once, then not until the host asks for it again. Whoever waits for packets takes them without being
interrupted for each: the word that asks is written when the last such task is through.
"""

from __future__ import annotations

from firmware.common.host.card import acknowledge
from firmware.common.host.words import store_words
from firmware.hal.host.receiving import Receiver
from firmware.hal.nic.layout import Word
from firmware.verbs import Host

TURNS = 64
"""Turns of the loop in which the service routine waits, between two looks for a packet."""


class Interrupts:
    """Of one host."""

    def __init__(self, host: Host, receiver: Receiver, delay_us: int) -> None:
        """`delay_us`: the usual wait for a further packet."""
        self._host, self._receiver, self._usual_us, self._delay_us = host, receiver, delay_us, delay_us
        self.on = False
        self._asked = False
        """The next packet will interrupt."""
        self.waiting = 0
        """Tasks that wait for packets."""
        self.count = 0
        """Interrupts so far."""

    async def switch(self, on: bool, delay_us: int | None = None) -> None:
        """On or off; and how long the routine waits for a further packet, None: as long as usual."""
        self.on = on
        self._delay_us = self._usual_us if delay_us is None else delay_us
        if on:
            await self.ask()
        elif self._asked:
            self._asked = False
            await store_words(self._host, Word.INTERRUPT, 0)

    async def ask(self) -> None:
        """Have the next packet interrupt, where nobody waits for it; one that is here already is taken now. An
        interrupt that meets this leaves its packet to it: then the next one is asked for again.
        """
        host = self._host
        while self.on and not (self._asked or self.waiting or self._receiver.busy):
            self._asked = True
            await host.spend("hal_ask")
            await store_words(host, Word.INTERRUPT, 1)
            await host.pio_read(host.nic_base + Word.INTERRUPT)  # what comes from here on interrupts
            await self._receiver.poll()

    async def serve(self) -> None:
        """The service routine."""
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
        await self.ask()
