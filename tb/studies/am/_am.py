"""Two processes of Active Messages: on the first host, which asks, and on the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tb.lab.lab import Lab

if TYPE_CHECKING:
    from firmware.am.host import Am, Call, Handler


class NearFar:
    """Ports of both processes, and the message that ends the far one."""

    def __init__(self, lab: Lab, layers: list[Am], *handlers: Handler) -> None:
        """Open a port on every host, with the handlers of a study."""
        self.lab, self.over = lab, False
        ports = [layer.open([*handlers, self.end]) for layer in layers]
        self.near, self.far = ports[0], ports[-1]

    async def end(self, call: Call) -> None:
        """Handler of the last message."""
        self.over = True

    async def answered(self) -> None:
        """Poll on the first host until all of its requests are answered."""
        await self.near.until(lambda: not self.near.unanswered)

    async def stop(self) -> None:
        """Send the last message."""
        await self.near.request(self.far.me, self.end)
        await self.answered()
