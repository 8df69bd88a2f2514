"""Messages that interrupt a computation: the NIC interrupts, the kernel signals the process, whose handlers then run.

The NIC is asked for it while the program computes, and at no other time: whoever is in a call of AM polls. It
interrupts once, and again when the signal's handler has taken what was there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.am.nic.layout import Word
from firmware.common.host.card import acknowledge
from firmware.common.host.words import store_words
from firmware.verbs import Host
from pymodels.host.process import Process
from pymodels.host.signals import Sig


class Interrupts:
    """Of one program on one host."""

    def __init__(self, host: Host, process: Process, poll: Callable[[], Awaitable[int]]) -> None:
        """`poll`: run the handlers of what has come."""
        self._host, self._process, self._poll = host, process, poll
        self._computing = 0
        """Tasks of the program that compute."""
        self.count = 0
        """Computations that were interrupted."""
        host.on_interrupt(self._serve)
        process.on_signal(Sig.IO, self._signalled)

    async def compute(self, what: str | float, times: int) -> None:
        """Have the CPU but for the handlers of messages that come."""
        self._computing += 1
        try:
            await self._ask()
            await self._process.compute(what, times)
        finally:
            self._computing -= 1
        if not self._computing:
            await self._host.spend("am_unask")
            await store_words(self._host, Word.INTERRUPT, 0)

    async def _ask(self) -> None:
        """Let the next message interrupt; what is here already is taken now."""
        host = self._host
        await host.spend("am_ask")
        await store_words(host, Word.INTERRUPT, 1)
        await host.pio_read(host.nic_base + Word.INTERRUPT)  # what comes from here on interrupts
        await self._poll()

    async def _serve(self) -> None:
        """The driver's routine."""
        await self._host.spend("am_serve")
        await acknowledge(self._host)
        await self._host.pio_read(self._host.nic_base + Word.INTERRUPT)  # the line is down from here on
        self._host.signal(self._process.number, Sig.IO, "AM's interrupt")

    async def _signalled(self, sig: Sig) -> None:
        """The signal's handler, in the middle of a computation; or late, when it is over."""
        self.count += 1
        await self._poll()
        if self._computing:
            await self._ask()
