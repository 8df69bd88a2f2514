"""Active Messages between a requesting process on the first host and a serving one on the last host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tb.lab.lab import Lab

if TYPE_CHECKING:
    from firmware.am.host import Am, Call, Handler


class NearFar:
    """Ports of the first and the last host, and the message that ends the last host's program."""

    def __init__(self, lab: Lab, layers: list[Am], *handlers: Handler) -> None:
        """Open a port on every host with the handlers of a study."""
        self.lab, self.over = lab, False
        ports = [layer.open([*handlers, self.end]) for layer in layers]
        self.near, self.far = ports[0], ports[-1]

    async def end(self, call: Call) -> None:
        """End the program of the last host (handler of the last message)."""
        self.over = True

    async def answered(self) -> None:
        """Poll on the first host until all of its requests are answered."""
        await self.near.until(lambda: not self.near.unanswered)

    async def stop(self) -> None:
        """Send the last message."""
        await self.near.request(self.far.me, self.end)
        await self.answered()
