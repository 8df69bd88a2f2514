"""Mail over layers of requests and replies: a message is a request, and the layer answers it when it is handled.

So receiving a message includes sending its answer, and sending one includes taking in the answers that are there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from firmware.mail import Mail
from firmware.verbs import Host


class RequestMail(Mail):
    """Of a layer whose processes open a port: `request`, `until`, `unanswered`."""

    answered = True

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._port: Any = None
        self._answers: deque[bytes] = deque()
        self._asked = 0
        """Messages that were answered with their bytes."""

    @abstractmethod
    async def opened(self, handlers: Sequence[Any]) -> Any:
        """The port, opened with these handlers."""

    async def start(self) -> None:
        self._port = await self.opened([self.handle, self.answers, self.returned])

    async def _send(self, node: int, data: bytes) -> None:
        await self._port.request(node, self.handle, data=data)

    async def until(self, condition: Callable[[], bool]) -> None:
        await self._port.until(condition, "mail")

    async def ask(self, node: int, data: bytes) -> bytes:
        """A request, and the reply of its handler."""
        await self._port.request(node, self.answers, data=data)
        await self._port.until(lambda: bool(self._answers), "the reply")
        return self._answers.popleft()

    async def answer(self) -> None:
        due = self._asked + 1
        await self._port.until(lambda: self._asked >= due, "mail")

    async def settle(self) -> None:
        await self._port.until(lambda: not self._port.unanswered, "answers")

    async def handle(self, call: Any) -> None:
        """The handler of messages."""
        self._came.append((call.source, bytes(call.data)))

    async def answers(self, call: Any) -> None:
        """The handler of those that are sent back."""
        await call.reply(self.returned, data=bytes(call.data))
        self._asked += 1

    async def returned(self, call: Any) -> None:
        """The handler of what is sent back."""
        self._answers.append(bytes(call.data))
