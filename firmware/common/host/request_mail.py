"""Mail over layers of requests and replies: a message is a request, and the layer acknowledges it once handled.

Receiving a message therefore includes sending a reply, and sending includes accepting the replies that have arrived.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from firmware.mail import Mail
from firmware.verbs import Host


class RequestMail(Mail):
    """Mail of a layer whose processes open a port with `request`, `until` and `unanswered`."""

    answered = True

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._port: Any = None
        self._answers: deque[bytes] = deque()
        self._asked = 0
        """Number of messages whose bytes were sent back."""

    @abstractmethod
    async def opened(self, handlers: Sequence[Any]) -> Any:
        """Open the port with these handlers and return it."""

    async def start(self) -> None:
        self._port = await self.opened([self.handle, self.answers, self.returned])

    async def _send(self, node: int, data: bytes) -> None:
        await self._port.request(node, self.handle, data=data)

    async def until(self, condition: Callable[[], bool]) -> None:
        await self._port.until(condition, "mail")

    async def request(self, node: int, data: bytes) -> bytes:
        """Send a request and return the data of its handler's reply."""
        await self._port.request(node, self.answers, data=data)
        await self._port.until(lambda: bool(self._answers), "the reply")
        return self._answers.popleft()

    async def answer(self) -> None:
        due = self._asked + 1
        await self._port.until(lambda: self._asked >= due, "mail")

    async def settle(self) -> None:
        await self._port.until(lambda: not self._port.unanswered, "answers")

    async def handle(self, call: Any) -> None:
        """Handle a message."""
        self._came.append((call.source, bytes(call.data)))

    async def answers(self, call: Any) -> None:
        """Reply to a message that expects its data back."""
        await call.reply(self.returned, data=bytes(call.data))
        self._asked += 1

    async def returned(self, call: Any) -> None:
        """Handle the reply to such a message."""
        self._answers.append(bytes(call.data))
