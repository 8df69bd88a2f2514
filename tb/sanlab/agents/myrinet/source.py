"""Source of packets on a link, with STOP and GO, gaps and faults."""

from __future__ import annotations

from collections import deque
from typing import Any

from cocotb.triggers import Event

from pymodels.link.characters import DATA, Symbol
from pymodels.link.packet import Packet
from tb.agents.lanes import Lane
from tb.agents.streams import Pauses, never

from .errors import LinkError
from .link import Link


class LinkSource:
    """Source of the characters that a design receives on `rx`. It stops at STOP and resumes at GO on `tx`.

    Args:
        link: Link.
        clock: Character clock.
        reset: Reset, or None.
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        gaps: Iterator of booleans; True leaves a slot empty.
        obeys_stop: False sends under STOP, a fault that overflows the receiver.
        short_timeout: Characters without another STOP after which GO is assumed; None: never.
        long_timeout: Characters for which a packet may be stopped; then it is cut with a GAP. None: no limit.
        cut: Number of packets that were cut.
        stopped_clocks: Clock edges under STOP with a character to send.
    """

    def __init__(self, link: Link, clock: Any, reset: Any = None, *, reset_active_level: bool = True) -> None:
        if link.source is not None:
            raise LinkError("link", "two sources", "use one LinkSource for all packets of a link")
        self.obeys_stop = True
        self.short_timeout: int | None = None
        self.long_timeout: int | None = None
        self.cut = 0
        self.stopped_clocks = 0
        self._lane = Lane()
        self._sent = self._queued = 0
        self._waiting: deque[tuple[int, Event]] = deque()
        self._since_stop = self._blocked = 0
        self._inside = False
        link.source = self
        link.hooks.append(self._hear)
        link.resets.append(self._restart)
        link.start(clock, reset, reset_active_level)

    @property
    def gaps(self) -> Pauses:
        """Iterator of booleans; True leaves a slot empty."""
        return self._lane.gaps

    @gaps.setter
    def gaps(self, gaps: Pauses | None) -> None:
        self._lane.gaps = gaps or never()

    @property
    def stopped(self) -> bool:
        """True while the design's STOP is in force."""
        return self._lane.stopped

    @property
    def idle(self) -> bool:
        """True if no character is queued."""
        return not self._lane.characters

    def queue(self, packet: Packet | bytes, *, wrong_crc: bool = False, gap: bool = True) -> None:
        """Queue a packet.

        Args:
            packet: Packet, whose CRC-8 is computed, or all bytes from the first route byte to the CRC-8.
            wrong_crc: Damage the last byte.
            gap: False omits the GAP, so that the packet merges with the next one.
        """
        wire = bytearray(packet.to_wire() if isinstance(packet, Packet) else packet)
        if not wire:
            raise LinkError("link packet", "0 bytes", "send at least one byte")
        if wrong_crc:
            wire[-1] ^= 0x01
        self.queue_characters(*(DATA | byte for byte in wire), *([int(Symbol.GAP)] if gap else []))

    def queue_characters(self, *characters: int) -> None:
        """Queue any characters of 9 bits, such as a GAP inside a packet or an illegal control character."""
        for character in characters:
            if not 0 <= character < 2 * DATA:
                raise LinkError("link character", f"{character:#x}", "use 9 bits: data flag and byte")
        self._lane.characters.extend(characters)
        self._queued += len(characters)

    async def send(self, packet: Packet | bytes, *, wrong_crc: bool = False, gap: bool = True) -> None:
        """Queue a packet as `queue` and wait until its last character has been sent."""
        self.queue(packet, wrong_crc=wrong_crc, gap=gap)
        await self.drain()

    async def drain(self) -> None:
        """Wait until every character queued so far has been sent, or dropped by a cut or a reset."""
        if not self.idle:
            event = Event()
            self._waiting.append((self._queued, event))
            await event.wait()

    def offer(self) -> int | None:
        """Return the next character, or None."""
        lane = self._lane
        if lane.stopped and not self.obeys_stop:
            lane.stopped = False
        if lane.stopped:
            return self._stopped()
        self._blocked = 0
        before = len(lane.characters)
        character = lane.leave()
        if len(lane.characters) == before:
            return None
        self._count(1)
        self._inside = bool(character & DATA) or (self._inside and character != Symbol.GAP)
        return character

    def _hear(self, rx: int, tx: int) -> None:
        self._since_stop += 1
        if self._lane.hear(tx) is Symbol.STOP:
            self._since_stop = 0
        if self.short_timeout is not None and self._since_stop >= self.short_timeout:
            self._lane.stopped = False

    def _stopped(self) -> int | None:
        """Count a slot under STOP and return the GAP that cuts a packet after the long time-out."""
        if self.idle:
            return None
        self.stopped_clocks += 1
        self._blocked += 1
        if self.long_timeout is None or self._blocked < self.long_timeout:
            return None
        self.cut += 1
        self._blocked = 0
        dropped = 0
        while self._lane.characters:
            dropped += 1
            if self._lane.characters.popleft() == Symbol.GAP:
                break
        self._count(dropped)
        inside, self._inside = self._inside, False
        return int(Symbol.GAP) if inside else None

    def _count(self, characters: int) -> None:
        """Note that characters have left the queue, and wake the tasks that wait for them."""
        self._sent += characters
        while self._waiting and self._waiting[0][0] <= self._sent:
            self._waiting.popleft()[1].set()

    def _restart(self) -> None:
        self._count(len(self._lane.characters))
        self._lane.characters.clear()
        self._lane.stopped = self._inside = False
