"""The NI's timer: retry delays and, with time-outs, the periodic tick for unanswered streams."""

from __future__ import annotations

from collections import deque

from firmware.grim.nic.ni import Ni
from firmware.grim.nic.streams import Streams
from pymodels.registers import Isr, Reg

TIME = 1 << Isr.TIME0
TICKS_PER_US = 2
"""RTC and the timers count half microseconds (fact sheet 3.1)."""
HALF = 1 << 31
LOOKS = 4
"""Number of ticks in one time-out."""
REPORTS = -1
"""Pseudo-stream number that stands for the reports to this NI's host."""


class Clock:
    """Retry delays of streams and of the reports to this NI's host."""

    def __init__(self, ni: Ni, streams: Streams) -> None:
        self._nic, self._streams = ni.nic, streams
        self._delay = TICKS_PER_US * ni.options.retry_delay_us
        self.held: deque[tuple[int, int]] = deque()
        """Pending delays in order of expiry: RTC time and stream number, or REPORTS."""

    async def later(self, stream: int) -> None:
        """Resume a stream after the retry delay."""
        if self._delay:
            self._streams.held[stream] = True
            await self._due(stream, self._delay)
        else:
            self._streams.wake(stream)

    async def reports_later(self) -> None:
        """Retry the reports to this NI's host after the retry delay, at the earliest at the timer's next tick."""
        await self._due(REPORTS, max(self._delay, 1))

    async def _due(self, what: int, delay: int) -> None:
        """Append a delay. All delays have the same length, so they expire in the order in which they were started."""
        now = await self._nic.read(Reg.RTC)
        await self._nic.work("retry_hold")
        self.held.append((now + delay & 0xFFFFFFFF, what))
        if len(self.held) == 1:
            self.arm(now)

    def arm(self, now: int) -> None:
        """Program the timer for the next expiry."""
        if self.held:
            self._nic.write(Reg.IT0, self.held[0][0] - now & 0xFFFFFFFF)

    async def expired(self) -> int:
        """Clear the timer flag TIME0 and return the current RTC time."""
        self._nic.write(Reg.ISR, TIME)
        return await self._nic.read(Reg.RTC)

    async def release(self, now: int) -> bool:
        """Resume the streams whose delay has expired. Return True if the delay of the reports has expired."""
        released, reports = 0, False
        while self.held and (now - self.held[0][0] & 0xFFFFFFFF) < HALF:
            _, what = self.held.popleft()
            released += 1
            if what == REPORTS:
                reports = True
            else:
                self._streams.held[what] = False
                self._streams.wake(what)
        await self._nic.work("retry_release", max(released, 1))
        return reports

    def sent(self, stream: int) -> None:
        """Start the time-out of a sent or prepared message; does nothing on a lossless network."""


class TickingClock(Clock):
    """Timer with time-outs: ticks every quarter of the time-out while a message is unanswered or a NI is down."""

    def __init__(self, ni: Ni, streams: Streams) -> None:
        super().__init__(ni, streams)
        self._down = ni.down
        self._tick = max(TICKS_PER_US * ni.options.timeout_us // LOOKS, 1)
        self._tick_due: int | None = None
        self.watched: dict[int, None] = {}
        """Streams with messages in flight. Streams without any are removed at the next tick."""
        self.age = [0] * ni.layout.streams
        """Ticks since the oldest unanswered message of each stream changed; 0 for streams that are not watched."""

    def sent(self, stream: int) -> None:
        """Start the time-out of a stream that sends or prepares a message."""
        if stream not in self.watched:
            self.start()
            self.watched[stream] = None

    def forget(self, stream: int) -> None:
        """Stop watching a stream that has no messages in flight."""
        self.watched.pop(stream, None)
        self.age[stream] = 0

    def start(self) -> None:
        """Start the tick if the timer is stopped."""
        if not self._ticks() and not self.held:
            self._nic.write(Reg.IT0, self._tick)

    def _ticks(self) -> bool:
        """Return True if the tick is needed."""
        return bool(self.watched or self._down)

    def tick(self, now: int) -> bool:
        """Return True if a tick is due."""
        if self._ticks() and (self._tick_due is None or (now - self._tick_due & 0xFFFFFFFF) < HALF):
            self._tick_due = None
            return True
        return False

    def arm(self, now: int) -> None:
        """Program the timer for the next retry delay or tick."""
        dues = [self.held[0][0]] if self.held else []
        if self._ticks():
            if self._tick_due is None:
                self._tick_due = now + self._tick & 0xFFFFFFFF
            dues.append(self._tick_due)
        if dues:
            self._nic.write(Reg.IT0, max(min(due - now & 0xFFFFFFFF for due in dues), 1))
