"""What TreadMarks needs of a network: Requests and Responses between its processes, whole and in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from firmware.tmk.host.account import Account, Share
from firmware.tmk.host.resending import Resending
from firmware.tmk.host.wire import HEADER_BYTES, RESPONSES, Kind, Message
from firmware.verbs import Host
from pymodels.host import Process, Sig

Serve = Callable[[Message], Awaitable[None]]
"""What is done with a Request. It sends, and waits for no Response."""

MOST = 32768
"""Bytes of a message; a longer one goes in parts (readings A7)."""


class Substrate(ABC):
    """Of one process. While it computes, and while it waits here, a Request interrupts it and is served; not while it
    is in a critical section of TreadMarks: then it is served behind it.
    """

    tells: frozenset[Sig] = frozenset()
    """The signals that announce Requests."""
    told = True
    """It finds them without a signal."""

    def __init__(self, host: Host, process: Process, me: int, nodes: int) -> None:
        self.host, self.process, self.me, self.nodes = host, process, me, nodes
        self.account = Account(lambda: host.now, process)
        self._serve: Serve
        self._inside = 0
        """Critical sections of the program's thread, one within another."""
        self._late = False
        """A Request came in one."""
        self._serving = False
        self._free = host.event(f"{process.who}: the end of a Request that another thread serves")
        self._parts: dict[tuple[Kind, int, int], dict[int, Message]] = {}
        self._resending: Resending | None = None
        """Where the network may lose messages."""
        self.sent = self.sent_bytes = 0
        """Messages, each part of a long one counted, and their bytes."""

    @property
    def others(self) -> list[int]:
        """All processes but this one."""
        return [node for node in range(self.nodes) if node != self.me]

    @abstractmethod
    async def start(self, serve: Serve) -> None:
        """Be reachable."""

    @abstractmethod
    async def stop(self) -> None:
        """Be reachable no more."""

    @abstractmethod
    async def _put(self, to: int, data: bytes, response: bool) -> None:
        """Send one message of at most MOST bytes; returns when its bytes are copied."""

    @abstractmethod
    async def response(self, what: str, sources: Collection[int]) -> Message:
        """The next Response, which comes from one of these; `what`: what it is for, in reports."""

    @abstractmethod
    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until Requests that were served have made it true."""

    @abstractmethod
    async def _serve_come(self) -> None:
        """Serve all Requests that have come."""

    # ---- when Requests are served

    async def poll(self) -> None:
        """Serve Requests that have come (Tmk_poll)."""
        with self.process.signals.masking(self.tells):
            await self._serve_all()

    @asynccontextmanager
    async def section(self) -> AsyncIterator[None]:
        """A critical section of TreadMarks: Requests that have come meanwhile are served at its end."""
        with self.account.during(Share.PROTOCOL):
            while self._serving:  # by another thread
                await self.process.block(self._free)
            self._inside += 1
            try:
                yield
            finally:
                self._inside -= 1
            await self._serve_late()

    async def _told(self) -> None:
        """There are Requests: serve them, unless the program is where that may not be, or serves others just now."""
        if self._inside or self._serving:
            self._late = True
        else:
            await self._serve_all()

    async def _serve_all(self) -> None:
        self._late = self._serving = True
        with self.account.during(Share.PROTOCOL):
            while self._late:
                self._late = False
                await self._serve_come()
        self._serving = False
        self._free.set()

    async def _serve_late(self) -> None:
        while self._late and not self._inside:
            await self.poll()

    @asynccontextmanager
    async def _waiting(self, what: str) -> AsyncIterator[None]:
        """The program waits for something: no critical section meanwhile."""
        inside, self._inside = self._inside, 0
        await self._serve_late()
        waits, who = self.host.waits, self.process.who
        waits.want(who, what)
        with self.account.during(Share.WAIT):
            yield
        waits.got(who, what)
        while self._serving:
            await self.process.block(self._free)
        self._inside = inside

    # ---- messages

    async def send(self, to: int, message: Message) -> None:
        """Send a Request or a Response, in parts if it is long; returns when its bytes are copied."""
        most = MOST - HEADER_BYTES
        parts = max(1, -(-len(message.body) // most))
        if self._resending:
            self._resending.sends(to, message, self.host.now)
        bodies = [message.body[most * part : most * (part + 1)] for part in range(parts)]
        packed = [message._replace(body=body, part=part, parts=parts).pack() for part, body in enumerate(bodies)]
        for data in self._at_once(to, message, packed):
            await self._send_part(to, data, message.kind >= RESPONSES)

    def _at_once(self, to: int, message: Message, parts: list[bytes]) -> list[bytes]:
        """Those parts of a message for which its receiver has room."""
        return parts

    async def _send_part(self, to: int, data: bytes, response: bool) -> None:
        with self.account.during(Share.COMMUNICATION):
            await self.process.spend("tmk_message")
            await self._put(to, data, response)
            self.sent += 1
            self.sent_bytes += len(data)

    def _whole(self, data: bytes) -> Message | None:
        """What has come; the message that it makes whole."""
        message = Message.unpack(data)
        if message.parts == 1:
            return message
        key = message.kind, message.source, message.sequence
        parts = self._parts.setdefault(key, {})
        parts[message.part] = message
        if len(parts) < message.parts:
            return None
        del self._parts[key]
        return message._replace(body=b"".join(parts[part].body for part in range(message.parts)))
