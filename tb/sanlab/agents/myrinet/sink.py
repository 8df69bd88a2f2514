"""Sink of packets on a link: a slack buffer that sends STOP and GO."""

from __future__ import annotations

from collections import deque
from typing import Any

from cocotb.queue import Queue

from pymodels.link.characters import DATA, Symbol, decode
from pymodels.link.packet import Received, parse
from tb.agents.lanes import Assembler
from tb.agents.streams import Pauses, never

from .errors import LinkError
from .link import Link


class LinkSink:
    """Receiver of the characters that a design sends on `tx`; its STOP and GO go to `rx`.

    Args:
        link: Link.
        clock: Character clock.
        reset: Reset, or None.
        slack: Characters that the slack buffer holds.
        stop_mark: Characters in the buffer at which STOP is sent.
        go_mark: Characters in the buffer at which GO is sent.
        refresh: Characters after which STOP is repeated while in force; None: it is sent once.
        strict: True: an overflow or an illegal character raises LinkError and fails the test. False: counted only.
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        stalls: Iterator of booleans; True leaves the next character in the buffer.
        lost_controls: Number of STOP and GO characters that are not sent, from now on: a fault.
        overflows: Number of characters lost because the buffer was full.
        illegal: Number of illegal control characters.
        fill: Characters in the buffer.
        stopping: True while STOP is in force.
    """

    def __init__(
        self,
        link: Link,
        clock: Any,
        reset: Any = None,
        *,
        slack: int = 80,
        stop_mark: int = 56,
        go_mark: int = 40,
        refresh: int | None = 8,
        strict: bool = True,
        reset_active_level: bool = True,
    ) -> None:
        if link.sink is not None:
            raise LinkError("link", "two sinks", "use one LinkSink for all packets of a link")
        if not 0 <= go_mark < stop_mark <= slack:
            cause = f"go mark {go_mark}, stop mark {stop_mark}, slack {slack}"
            raise LinkError("slack buffer", cause, "use 0 <= go mark < stop mark <= slack")
        self.stalls: Pauses = never()
        self.lost_controls = 0
        self.overflows = self.illegal = 0
        self.stopping = False
        self._slack, self._stop_mark, self._go_mark, self._refresh = slack, stop_mark, go_mark, refresh
        self._strict = strict
        self._buffer: deque[int] = deque()
        self._assembler = Assembler()
        self._packets: Queue[bytes] = Queue()
        self._pending: Symbol | None = None
        self._repeat = 0
        link.sink = self
        link.hooks.append(self._hear)
        link.resets.append(self._restart)
        link.start(clock, reset, reset_active_level)

    @property
    def fill(self) -> int:
        """Number of characters in the buffer."""
        return len(self._buffer)

    @property
    def empty(self) -> bool:
        """True if no packet is waiting to be received."""
        return self._packets.empty()

    async def receive_wire(self) -> bytes:
        """Return all bytes of the next packet, from its first route byte to its CRC-8."""
        return await self._packets.get()

    async def receive(self) -> Received:
        """Return the next packet and its CRC-8 syndrome. Raises ValueError if type or CRC-8 is incomplete."""
        return parse(await self.receive_wire())

    def offer(self) -> int | None:
        """Return STOP or GO if it is to be sent now, or None."""
        if self._pending is None:
            return None
        symbol, self._pending = self._pending, None
        if self.lost_controls:
            self.lost_controls -= 1
            return None
        return int(symbol)

    def _hear(self, rx: int, tx: int) -> None:
        if tx & DATA or decode(tx) is Symbol.GAP:
            self._store(tx)
        elif decode(tx) is None:
            self.illegal += 1
            self._complain("illegal character", f"{tx:#x}", "send data, GAP, STOP, GO, BEAT or IDLE")
        if self._buffer and not next(self.stalls):
            packet, _ = self._assembler.take(self._buffer.popleft())
            if packet:
                self._packets.put_nowait(packet)
        self._control()

    def _store(self, character: int) -> None:
        if len(self._buffer) < self._slack:
            self._buffer.append(character)
            return
        self.overflows += 1
        self._complain("slack buffer", f"a character beyond {self._slack}", "stop sending soon after STOP")

    def _control(self) -> None:
        """Send STOP at its mark, repeat it, and send GO at the other mark."""
        self._repeat += 1
        if not self.stopping and self.fill >= self._stop_mark:
            self.stopping, self._pending, self._repeat = True, Symbol.STOP, 0
        elif self.stopping and self.fill <= self._go_mark:
            self.stopping, self._pending = False, Symbol.GO
        elif self.stopping and self._refresh is not None and self._repeat >= self._refresh:
            self._pending, self._repeat = Symbol.STOP, 0

    def _complain(self, what: str, cause: str, remedy: str) -> None:
        if self._strict:
            raise LinkError(what, cause, remedy)

    def _restart(self) -> None:
        self._buffer.clear()
        self._assembler.packet.clear()
        self.stopping, self._pending = False, None
