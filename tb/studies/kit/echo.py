"""Round trips over a layer of requests and replies, whose far program sends back the data that it gets."""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Notebook
from tb.studies.kit.payload import numbered
from tb.studies.kit.rounds import Trips, round_trips


class Echo:
    """Handlers of both programs, `echo` and `returned`, and the round trips of the near one."""

    def __init__(self, lab: Notebook) -> None:
        self.lab = lab
        self.came: list[bytes] = []
        """Data of the replies."""
        self.over = False
        """True once the far program may end."""

    async def echo(self, call: Any) -> None:
        """Handler of a request: send the data back."""
        await call.reply(self.returned, data=call.data)

    async def returned(self, call: Any) -> None:
        """Handler of a reply."""
        self.came.append(call.data)

    async def serve(self, port: Any) -> None:
        """Poll at the far program until the round trips are over."""
        await port.until(lambda: self.over, "the end of the round trips")

    async def round_trips(self, port: Any, far: int, size: int, count: int) -> Trips:
        """Make round trips with messages of `size` bytes; the study counts its messages itself."""

        async def ask(number: int) -> None:
            before, data = len(self.came), numbered(size, number)
            await port.request(far, self.echo, data=data)
            await port.until(lambda: len(self.came) > before, "the reply")
            self.lab.check(self.came[-1] == data, f"{size} bytes came back changed")

        return await round_trips(self.lab, count, ask, messages=0)
