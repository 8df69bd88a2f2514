"""Round trips over a layer of requests and replies: the far program returns the data of each request."""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Notebook
from tb.studies.kit.payload import numbered
from tb.studies.kit.rounds import Trips, round_trips


class Echo:
    """Request and reply handlers of an echo test (`echo`, `returned`), and the round trips of the near program."""

    def __init__(self, lab: Notebook) -> None:
        self.lab = lab
        self.came: list[bytes] = []
        """Data of the replies received so far."""
        self.over = False
        """True once the far program may end."""

    async def echo(self, call: Any) -> None:
        """Handle a request: reply with its data."""
        await call.reply(self.returned, data=call.data)

    async def returned(self, call: Any) -> None:
        """Handle a reply: keep its data."""
        self.came.append(call.data)

    async def serve(self, port: Any) -> None:
        """Poll at the far program until the round trips are over."""
        await port.until(lambda: self.over, "the end of the round trips")

    async def round_trips(self, port: Any, far: int, size: int, count: int) -> Trips:
        """Make `count` round trips with messages of `size` bytes; does not add to the messages of the run."""

        async def ask(number: int) -> None:
            before, data = len(self.came), numbered(size, number)
            await port.request(far, self.echo, data=data)
            await port.until(lambda: len(self.came) > before, "the reply")
            self.lab.check("echoed bytes", self.came[-1] == data, f"{size} bytes returned corrupted")

        return await round_trips(self.lab, count, ask, messages=0)
