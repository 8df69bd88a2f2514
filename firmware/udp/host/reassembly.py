"""Reassembly of datagrams whose frames may arrive in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.udp.formats import IP_BYTES, Ip
from firmware.udp.host.driver import Frame

PATIENCE_PS = 30 * 10**12
"""Time after which the frames of an incomplete datagram are dropped, ps (from memory: Linux, 30 s)."""


@dataclass
class Partial:
    """Incomplete datagram."""

    since: int
    parts: dict[int, Frame] = field(default_factory=dict)
    """Frames by their offset in the datagram."""
    total: int = 0
    """Bytes of the datagram; 0 until its last part has arrived."""

    def whole(self) -> list[Frame] | None:
        """Return all frames in order if the datagram is complete, else None."""
        at, frames = 0, []
        while self.total and at < self.total and (frame := self.parts.get(at)) is not None:
            frames.append(frame)
            at += frame.size - IP_BYTES
        return frames if self.total and at == self.total else None


class Reassembly:
    """Reassembly of one host."""

    def __init__(self, most: int, drop: Callable[[list[Frame]], None]) -> None:
        """Create the reassembly; at most `most` bytes of frames wait, and `drop` takes those given up."""
        self._most, self._drop = most, drop
        self._partial: dict[tuple[int, int], Partial] = {}
        """Incomplete datagrams by IP source address and number, oldest first."""
        self.bytes = 0
        """Bytes of waiting frames."""
        self.given_up = 0
        """Number of datagrams dropped incomplete."""

    def add(self, now: int, ip: Ip, frame: Frame) -> list[Frame] | None:
        """Add a part that arrived at `now` ps. Return all frames in order if the datagram is complete, else None."""
        self._give_up_before(now - PATIENCE_PS)
        key = ip.source, ip.number
        partial = self._partial.setdefault(key, Partial(now))
        if ip.place in partial.parts:
            self._drop([frame])  # a duplicate
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
