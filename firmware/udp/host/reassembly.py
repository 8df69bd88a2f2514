"""Datagrams that come in several frames, in any order: their frames wait until all are here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.udp.formats import IP_BYTES, Ip
from firmware.udp.host.driver import Frame

PATIENCE_PS = 30 * 10**12
"""After so long the frames of a datagram are dropped (from memory: Linux, 30 s)."""


@dataclass
class Partial:
    """A datagram of which some parts are here."""

    since: int
    parts: dict[int, Frame] = field(default_factory=dict)
    """By their place in the datagram."""
    total: int = 0
    """Bytes of the datagram; 0 while its last part is not here."""

    def whole(self) -> list[Frame] | None:
        """All its frames in order, when nothing is missing."""
        at, frames = 0, []
        while self.total and at < self.total and (frame := self.parts.get(at)) is not None:
            frames.append(frame)
            at += frame.size - IP_BYTES
        return frames if self.total and at == self.total else None


class Reassembly:
    """Of one host."""

    def __init__(self, most: int, drop: Callable[[list[Frame]], None]) -> None:
        """`most`: bytes of frames that may wait; `drop` has those whose missing fragments never come."""
        self._most, self._drop = most, drop
        self._partial: dict[tuple[int, int], Partial] = {}
        """By IP address of the sender and its number of the datagram; the oldest first."""
        self.bytes = 0
        """Of frames that wait."""
        self.given_up = 0
        """Datagrams that were dropped without ever being whole."""

    def add(self, now: int, ip: Ip, frame: Frame) -> list[Frame] | None:
        """A part has come at a time, ps; all frames of its datagram in order, if that is whole now."""
        self._give_up_before(now - PATIENCE_PS)
        key = ip.source, ip.number
        partial = self._partial.setdefault(key, Partial(now))
        if ip.place in partial.parts:
            self._drop([frame])  # it came twice
            return None
        partial.parts[ip.place] = frame
        self.bytes += frame.size
        if not ip.more:
            partial.total = ip.place + frame.size - IP_BYTES
        frames = partial.whole()
        if frames is not None:
            self._remove(key)
            return frames
        while self.bytes > self._most:
            self._give_up(next(iter(self._partial)))
        return None

    def _give_up_before(self, time: int) -> None:
        for key in [key for key, partial in self._partial.items() if partial.since < time]:
            self._give_up(key)

    def _give_up(self, key: tuple[int, int]) -> None:
        self.given_up += 1
        self._drop(list(self._remove(key).parts.values()))

    def _remove(self, key: tuple[int, int]) -> Partial:
        partial = self._partial.pop(key)
        self.bytes -= sum(frame.size for frame in partial.parts.values())
        return partial
