"""The NI's one timer: retry delays, and with time-outs the tick of the streams that wait for answers."""

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
"""Ticks of a time-out."""
REPORTS = -1
"""In place of a stream: the reports to this NI's host."""


class Clock:
    """Streams, and the reports to this NI's host, that go on after the retry delay."""

    def __init__(self, ni: Ni, streams: Streams) -> None:
        self._nic, self._streams = ni.nic, streams
        self._delay = TICKS_PER_US * ni.options.retry_delay_us
        self.held: deque[tuple[int, int]] = deque()
        """When which streams go on, or the reports to this NI's host (REPORTS)."""

    async def later(self, stream: int) -> None:
        """A stream goes on after the retry delay."""
        if self._delay:
            self._streams.held[stream] = True
            await self._due(stream, self._delay)
        else:
            self._streams.wake(stream)

    async def reports_later(self) -> None:
        """After the retry delay, check again whether this NI's host has room for reports; at the earliest at the
        timer's next tick.
        """
        await self._due(REPORTS, max(self._delay, 1))

    async def _due(self, what: int, delay: int) -> None:
        """Something goes on after a delay. Delays are equal, so they end in the order in which they began."""
        now = await self._nic.read(Reg.RTC)
        await self._nic.work("retry_hold")
        self.held.append((now + delay & 0xFFFFFFFF, what))
        if len(self.held) == 1:
            self.arm(now)

    def arm(self, now: int) -> None:
        """Set the timer to what is due next."""
        if self.held:
            self._nic.write(Reg.IT0, self.held[0][0] - now & 0xFFFFFFFF)

    async def expired(self) -> int:
        """TIME0 has expired: the time."""
        self._nic.write(Reg.ISR, TIME)
        return await self._nic.read(Reg.RTC)

    async def release(self, now: int) -> bool:
        """End the delays that are over: streams go on. Whether that of the reports is over."""
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
        """A message leaves, or is prepared to: on a network that loses nothing it needs no time-out."""


class TickingClock(Clock):
    """With time-outs: a tick, a quarter of the time-out, while anything is unanswered or a NI is down."""

    def __init__(self, ni: Ni, streams: Streams) -> None:
        super().__init__(ni, streams)
        self._down = ni.down
        self._tick = max(TICKS_PER_US * ni.options.timeout_us // LOOKS, 1)
        self._tick_due: int | None = None
        self.watched: dict[int, None] = {}
        """Streams with messages in flight, and some that had."""
        self.age = [0] * ni.layout.streams
        """By stream: ticks since the oldest unanswered message changed; 0 of a stream that is not watched."""

    def sent(self, stream: int) -> None:
        """A message leaves, or is prepared to."""
        if stream not in self.watched:
            self.start()
            self.watched[stream] = None

    def forget(self, stream: int) -> None:
        """Nothing of a stream is in flight any more."""
        self.watched.pop(stream, None)
        self.age[stream] = 0

    def start(self) -> None:
        """Start ticking, if the timer is stopped."""
        if not self._ticks() and not self.held:
            self._nic.write(Reg.IT0, self._tick)

    def _ticks(self) -> bool:
        """Whether the tick is needed."""
        return bool(self.watched or self._down)

    def tick(self, now: int) -> bool:
        """Whether it is time to look at the streams."""
        if self._ticks() and (self._tick_due is None or (now - self._tick_due & 0xFFFFFFFF) < HALF):
            self._tick_due = None
            return True
        return False

    def arm(self, now: int) -> None:
        """Set the timer to what is due next."""
        dues = [self.held[0][0]] if self.held else []
        if self._ticks():
            if self._tick_due is None:
                self._tick_due = now + self._tick & 0xFFFFFFFF
            dues.append(self._tick_due)
        if dues:
            self._nic.write(Reg.IT0, max(min(due - now & 0xFFFFFFFF for due in dues), 1))
