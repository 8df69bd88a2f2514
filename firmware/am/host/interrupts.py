"""Messages that interrupt a computation: NIC interrupt, signal to the process, message handlers.

Interrupts are enabled while the program computes; calls of AM poll. The NIC interrupts once, and is enabled again when
the signal handler has polled.
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
    """Interrupt support for the process of one host."""

    def __init__(self, host: Host, process: Process, poll: Callable[[], Awaitable[int]]) -> None:
        """Register the interrupt routine and the signal handler; `poll` runs the handlers of received messages."""
        self._host, self._process, self._poll = host, process, poll
        self._computing = 0
        """Number of tasks that are in `compute`."""
        self.count = 0
        """Number of signals that have interrupted the program."""
        host.on_interrupt(self._serve)
        process.on_signal(Sig.IO, self._signalled)

    async def compute(self, what: str | float, times: int) -> None:
        """Compute on the host CPU, interrupted by the handlers of messages that arrive."""
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
        """Enable the NIC's interrupt, then poll once for messages that arrived before."""
        host = self._host
        await host.spend("am_ask")
        await store_words(host, Word.INTERRUPT, 1)
        await host.pio_read(host.nic_base + Word.INTERRUPT)  # posted store done: later messages interrupt
        await self._poll()

    async def _serve(self) -> None:
        """Acknowledge the NIC's interrupt and signal the process (interrupt routine of the driver)."""
        await self._host.spend("am_serve")
        await acknowledge(self._host)
        await self._host.pio_read(self._host.nic_base + Word.INTERRUPT)  # the interrupt line is low after this read
        self._host.signal(self._process.number, Sig.IO, "AM's interrupt")

    async def _signalled(self, sig: Sig) -> None:
        """Run message handlers in a signal, and enable the interrupt again if the program still computes."""
        self.count += 1
        await self._poll()
        if self._computing:
            await self._ask()
