"""Monitor of one direction of a link: packets, CRC-8, gaps, STOP, and the link's rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pymodels.link.characters import RECEIVED, Symbol
from pymodels.link.crc8 import crc8
from pymodels.link.rules import LinkRules
from tb.agents.bus import PassiveMonitor

from .errors import LinkError
from .link import Link


@dataclass(frozen=True)
class LinkPacket:
    """Packet on the wire. Comparisons use its bytes only."""

    wire: bytes
    """All bytes from the first route byte to the CRC-8."""
    start: int = field(default=0, compare=False)
    """Clock of the first character, as counted by the link."""
    end: int = field(default=0, compare=False)
    """Clock of the GAP."""
    gaps: int = field(default=0, compare=False)
    """Clocks within the packet without a character of it."""
    stopped: int = field(default=0, compare=False)
    """Clocks within the packet under STOP of the opposite direction."""

    @property
    def crc_correct(self) -> bool:
        """True if the CRC-8 over all bytes is correct."""
        return crc8(self.wire) == 0


class LinkMonitor(PassiveMonitor):
    """Monitor of the packets in one direction, with callbacks and scoreboards as cocotb-bus has them.

    Args:
        link: Link.
        clock: Character clock.
        reset: Reset, or None.
        direction: "tx" for characters of the design, "rx" for characters to it.
        callback: Function called with each LinkPacket.
        slack: Characters that may follow a STOP of the opposite direction until GO; the room above the STOP mark.
        check_crc: True: a packet with a wrong CRC-8, or without room for type and CRC-8, is a violation.
        strict: True: a violation raises LinkError and fails the test. False: it is added to `violations`.
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        packets: Packets, oldest first.
        violations: Texts of the violations.
        controls: Clock and symbol of each STOP, GO and BEAT in this direction.
    """

    def __init__(
        self,
        link: Link,
        clock: Any,
        reset: Any = None,
        direction: str = "tx",
        callback: Callable[[LinkPacket], None] | None = None,
        *,
        slack: int = 24,
        check_crc: bool = True,
        strict: bool = True,
        reset_active_level: bool = True,
    ) -> None:
        if direction not in {"rx", "tx"}:
            raise LinkError("link monitor", f"direction {direction!r}", 'use "rx" or "tx"')
        super().__init__(callback)
        self.link = link
        self.packets: list[LinkPacket] = []
        self.violations: list[str] = []
        self.controls: list[tuple[int, Symbol]] = []
        self._backwards = direction == "rx"
        self._slack, self._check_crc, self._strict = slack, check_crc, strict
        self._restart()
        link.hooks.append(self._step)
        link.resets.append(self._restart)
        link.start(clock, reset, reset_active_level)

    def _restart(self) -> None:
        self._rules = LinkRules(self._slack, self._violation, self._check_crc)

    def _step(self, rx: int, tx: int) -> None:
        character, opposite = (rx, tx) if self._backwards else (tx, rx)
        if not character and not opposite:
            return
        clock, symbol = self.link.clocks, RECEIVED.get(character, Symbol.IDLE)
        if symbol not in {Symbol.GAP, Symbol.IDLE}:
            self.controls.append((clock, symbol))
        done = self._rules.step(clock, character, opposite)
        if done is not None:
            packet = LinkPacket(done.wire, done.start, done.end, done.idle, done.stopped)
            self.packets.append(packet)
            self._recv(packet)

    def _violation(self, clock: int, cause: str) -> None:
        if self._strict:
            remedy = "make the sender obey the link's rules, or pass strict=False"
            raise LinkError(f"link, clock {clock}", cause, remedy)
        self.violations.append(f"clock {clock}: {cause}")
