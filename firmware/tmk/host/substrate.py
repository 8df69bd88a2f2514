"""Network interface of TreadMarks: complete, ordered Requests and Responses between its processes."""

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
"""Handler of a Request. It may send, but not wait for a Response."""

MOST = 32768
"""Largest message in bytes; longer ones are split (readings A7)."""


class Substrate(ABC):
    """Network interface of one process.

    A Request interrupts the process while it computes or waits here. During a critical section of TreadMarks it is
    deferred to the end of the section.
    """

    tells: frozenset[Sig] = frozenset()
    """Signals that announce Requests."""
    notified = True
    """True if Requests are noticed without `Tmk.poll`."""

    def __init__(self, host: Host, process: Process, me: int, nodes: int) -> None:
        self.host, self.process, self.me, self.nodes = host, process, me, nodes
        self.account = Account(lambda: host.now, process)
        self._serve: Serve
        self._inside = 0
        """Nesting depth of critical sections of the program's thread."""
        self._late = False
        """True if a Request arrived in a critical section."""
        self._serving = False
        self._free = host.event(f"{process.who}: the end of a Request that another thread serves")
        self._parts: dict[tuple[Kind, int, int], dict[int, Message]] = {}
        self._resending: Resending | None = None
        """Retransmission state, where the network may lose messages."""
        self.sent = self.sent_bytes = 0
        """Numbers of messages (each part of a long one counted) and of their bytes."""

    @property
    def others(self) -> list[int]:
        """All other processes."""
        return [node for node in range(self.nodes) if node != self.me]

    @abstractmethod
    async def start(self, serve: Serve) -> None:
        """Make the process reachable."""

    @abstractmethod
    async def stop(self) -> None:
        """Stop serving Requests."""

    @abstractmethod
    async def _put(self, to: int, data: bytes, response: bool) -> None:
        """Send one message of at most MOST bytes. Return when its bytes are copied."""

    @abstractmethod
    async def response(self, what: str, sources: Collection[int]) -> Message:
        """Return the next Response from one of the sources; `what` describes the wait in a hang report."""

    @abstractmethod
    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until served Requests have made the condition true."""

    @abstractmethod
    async def _serve_arrived(self) -> None:
        """Serve all Requests that have arrived."""

    # ---- when Requests are served

    async def poll(self) -> None:
        """Serve the Requests that have arrived (Tmk_poll)."""
        with self.process.signals.masking(self.tells):
            await self._serve_all()

    @asynccontextmanager
    async def section(self) -> AsyncIterator[None]:
        """Run a critical section of TreadMarks; Requests that arrive meanwhile are served at its end."""
        with self.account.during(Share.PROTOCOL):
            while self._serving:  # by another thread
                await self.process.block(self._free)
            self._inside += 1
            try:
                yield
            finally:
                self._inside -= 1
            await self._serve_late()

    async def _notified(self) -> None:
        """Serve announced Requests, or defer them during a critical section or another service."""
        if self._inside or self._serving:
            self._late = True
        else:
            await self._serve_all()

    async def _serve_all(self) -> None:
        self._late = self._serving = True
        with self.account.during(Share.PROTOCOL):
            while self._late:
                self._late = False
                await self._serve_arrived()
        self._serving = False
        self._free.set()

    async def _serve_late(self) -> None:
        while self._late and not self._inside:
            await self.poll()

    @asynccontextmanager
    async def _waiting(self, what: str) -> AsyncIterator[None]:
        """Leave the critical section while the program waits."""
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
        """Send a Request or a Response, split if it is long. Return when its bytes are copied."""
        most = MOST - HEADER_BYTES
        parts = max(1, -(-len(message.body) // most))
        if self._resending:
            self._resending.sends(to, message, self.host.now)
        bodies = [message.body[most * part : most * (part + 1)] for part in range(parts)]
        packed = [message._replace(body=body, part=part, parts=parts).pack() for part, body in enumerate(bodies)]
        for data in self._at_once(to, message, packed):
            await self._send_part(to, data, message.kind >= RESPONSES)

    def _at_once(self, to: int, message: Message, parts: list[bytes]) -> list[bytes]:
        """Return the parts of a message that the receiver has room for."""
        return parts

    async def _send_part(self, to: int, data: bytes, response: bool) -> None:
        with self.account.during(Share.COMMUNICATION):
            await self.process.spend("tmk_message")
            await self._put(to, data, response)
            self.sent += 1
            self.sent_bytes += len(data)

    def _whole(self, data: bytes) -> Message | None:
        """Return the message that a received part completes, or None."""
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
