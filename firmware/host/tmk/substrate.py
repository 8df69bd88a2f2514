"""What TreadMarks needs of the network below: Requests and Responses between its processes, whole and in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.host.tmk.wire import Message
from pymodels.host import Process

Serve = Callable[[Message], Awaitable[None]]
"""What is done with a Request. It sends, and waits for no Response."""


class Substrate(Protocol):
    """Of one process. While it computes, and while it waits here, a Request interrupts it and is served; not while it
    is in a critical section of TreadMarks: then it is served behind it.
    """

    process: Process
    me: int
    nodes: int

    async def start(self, serve: Serve) -> None:
        """Be reachable."""

    async def send(self, to: int, message: Message) -> None:
        """Send a Request or a Response; returns when its bytes are copied."""

    async def response(self, what: str) -> Message:
        """The next Response, whoever sends it (New Recv_any); `what`: what it is for, in reports."""

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until Requests that were served have made it true."""

    def enter(self) -> None:
        """A critical section begins."""

    async def leave(self) -> None:
        """It ends: Requests that have come meanwhile are served."""

    async def stop(self) -> None:
        """Be reachable no more."""
