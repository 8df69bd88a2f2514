"""The way out: one packet is with the port at a time; answers go before messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from firmware.nic.via.ni import Connection, Ni
from pymodels.formats.via import Header, Kind
from pymodels.trace import TraceEvent


class Outlet:
    """Launches answers, and asks for more when the port is free."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._answers: deque[tuple[int, tuple[int, int]]] = deque()
        self.more: Callable[[], Awaitable[None]]
        """The sender, asked when nothing is with the port."""

    async def answer(self, to: Connection, kind: Kind, number: int, last: bool) -> None:
        """Answer the message of this number of a connection, now or when the port is free."""
        await self._nic.work("answer")
        words = Header(self._ni.me, to.number, self._ni.number(), 0, to.peer, kind, True, last, number).words()
        sent = TraceEvent.ACK_SENT if kind == Kind.DONE else TraceEvent.NACK_SENT
        self._nic.trace(sent, words[0], to.node, to.peer)
        self._answers.append((to.node, words))
        if self._port.ready():
            await self._launch()

    async def launched(self) -> None:
        """The port is free."""
        await (self._launch() if self._answers else self.more())

    async def _launch(self) -> None:
        node, header = self._answers.popleft()
        await self._port.launch(node, header, 0)
