"""The program of a host in HPAM's small worlds.

HPAM reads the clock when it has looked at the card. What moves the clock here is a timer of the program's own, which
goes off when nothing else can happen, and is longer than HPAM waits for any answer.
"""

from __future__ import annotations

from firmware.hpam.host.sending import MOST_PATIENCE
from tb.explore import cards
from tb.explore.cards import Server

LEFT_OUT = (
    *cards.LEFT_OUT,
    *("Daemon._sends", "Daemon.switch_ps", "Sender.resent", "Port.duplicates", "Port.damaged"),  # count
    *("Sent.trace", "Sent.send"),  # describe
    "Sent.wait",  # the clock passes every deadline
)
PATIENCE_US = 1_000_000
PASSES_PS = (MOST_PATIENCE + 36) * PATIENCE_US * 1_000_000
"""The clock's step: every deadline is long over behind it."""


class Patient(Server):
    """A program on a host whose time passes until all its requests are answered."""

    async def run(self) -> None:
        """See `User`."""
        self.port.process.host.spawn(self._clock(), "clock")
        await super().run()

    async def _clock(self) -> None:
        due = sum(request.source == self.node for request in self.traffic)
        while sum(kind == "answer" for kind, *_ in self.seen) < due:
            await self.port.process.host.sleep(PASSES_PS, "time")
