"""Program of a host in HPAM's small worlds.

HPAM reads the clock after polling the card. Here the program's own timer advances the clock. It expires when no other
transition is possible, and is longer than any wait of HPAM for a reply.
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
"""Step of the clock, ps; longer than every deadline."""


class Patient(Server):
    """Program of a host whose clock advances until all its requests are answered."""

    async def run(self) -> None:
        """Run the program (see `User`)."""
        self.port.process.host.spawn(self._clock(), "clock")
        await super().run()

    async def _clock(self) -> None:
        due = sum(request.source == self.node for request in self.traffic)
        while sum(kind == "answer" for kind, *_ in self.seen) < due:
            await self.port.process.host.sleep(PASSES_PS, "time")
