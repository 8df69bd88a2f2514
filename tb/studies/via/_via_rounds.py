"""Round trips and streams over VIA under one condition at a time (paper 001, 4.2.2).

Round trip: a message is sent to the other process, which returns one of the same size. Receives are posted between two
round trips, which begin at random phases of the polling loops of the near process and NIC. Polling loops of two NICs
with equal periods keep their relative phase through all round trips of a link. A packet's wait for the receiver's loop
is therefore a fixed part of one period, set when the link was made, and not a mean.

Stream: messages are sent back to back, at most `window` of them unfinished, and the sender waits for the answer to the
last. Utilisation is the near host's CPU time in percent of the measured time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tb.lab.lab import Lab
from tb.studies.kit.rounds import phases, round_trips
from tb.studies.kit.steady import faster
from tb.studies.via._via_case import AHEAD, Case, Party
from tb.studies.via._via_clock import Clock, Measured
from tb.studies.via._via_ends import End, join, part

ACK = 4
"""Bytes of the answer to the last message of a stream, in each of its segments."""
POSTED, PAGE_WORDS = 128, 240
"""Number of receives posted before a stream begins; each further one is posted when a message is dequeued.

Also the number of descriptor words that a process may have in its page of the NIC, with user-level doorbells.
"""


class Link:
    """Two processes and their connected VIs under one condition."""

    def __init__(self, lab: Lab, near: Party, far: Party) -> None:
        self.lab, self.near, self.far, self.case = lab, near, far, near.case
        self.streamed = 0, 0
        """Begin and end of the last stream, ps."""
        self._arrivals: list[int] = []
        """Time at which each message of the last stream was dequeued, ps."""
        self._idle: list[tuple[Any, Any]] = []
        self._pause = phases(f"phases {lab.seed}")

    @classmethod
    async def make(cls, near: End, far: End, case: Case, messages: int) -> Link:
        """Connect two processes, with buffers for `messages` messages."""
        a, b = await Party.make(near, case, messages), await Party.make(far, case, messages)
        await join(near, a.vi, far, b.vi)
        if case.rdma:
            a.target, b.target = b.receives.data, a.receives.data
        if case.read:
            a.target = b.sends.data
        link = cls(near.lab, a, b)
        await link.widen(max(case.vis, case.queue))
        return link

    @property
    def _posted(self) -> int:
        """Number of receives of a stream that are posted at a time."""
        user_level = self.far.end.nic.options.user_level
        return min(POSTED, PAGE_WORDS // (12 + 4 * self.case.segments)) if user_level else POSTED

    async def widen(self, vis: int) -> None:
        """Connect further VIs until there are `vis`."""
        while len(self._idle) < vis - 1:
            near, far = await self.near.idle_vi(), await self.far.idle_vi()
            await join(self.near.end, near, self.far.end, far)
            self._idle.append((near, far))

    async def close(self) -> None:
        """Disconnect and release all resources."""
        for near, far in ((self.near.vi, self.far.vi), *self._idle):
            await part(self.lab, near, far)
        for party in (self.near, self.far):
            await party.close()

    async def round_trips(self, rounds: int) -> Measured:
        """Return half of the mean round-trip time.

        One more round trip precedes the measurement, by the same threads, which have their CPUs afterwards.
        """
        for party in (self.near, self.far):
            party.fill(self.lab.seed)
            for _ in range(AHEAD):
                for size in self.case.pieces:
                    await party.expect(size)
        clock = await self._rounds(1 + rounds)
        self.near.has(self.far)
        self.far.has(self.near)
        self.lab.findings.messages += 2 * (rounds + 1)
        return Measured(clock.elapsed / rounds / 2 / 1e6, clock.percent)

    async def _rounds(self, rounds: int) -> Clock:
        """Make the round trips and return the clock of all but the first."""
        first, clock = (Clock(self.lab, self.near.end.host) for _ in range(2))

        async def ask(number: int) -> None:
            one = clock if number else first
            one.go()
            await self._speak(self.near)
            await self._listen(self.near)
            one.stop()

        asks = round_trips(
            self.lab, rounds, ask, pause=self._pause, settle=lambda _: self._prepare(self.near), messages=0
        )

        async def answers() -> None:
            for _ in range(rounds):
                await self._listen(self.far)
                await self._speak(self.far)
                await self._prepare(self.far)

        far = self.far.end.process.spawn(answers(), "answers")
        near = self.near.end.process.spawn(asks, "asks")
        await self.lab.all([near, far])
        return clock

    async def _speak(self, party: Party) -> None:
        for size in self.case.pieces:
            await party.send(size)

    async def _listen(self, party: Party) -> None:
        for _ in self.case.pieces:
            await party.received()

    async def _prepare(self, party: Party) -> None:
        """Post receives for the round after the next, and dequeue finished sends."""
        for size in self.case.pieces:
            await party.expect(size)
            await party.sent()

    async def notified(self, rounds: int) -> Measured:
        """Measure round trips in which a handler is called for each receive and sends the answer."""
        over = self.near.end.host.event("the last round trip")
        left = {id(self.near): rounds, id(self.far): rounds}
        size = self.case.size

        def more(party: Party) -> bool:
            return left[id(party)] > 0

        async def handler(party: Party, _: Any) -> None:
            left[id(party)] -= 1
            if more(party):
                await party.expect(size)
                party.again()
            if more(party) or party is self.far:
                await party.send(size)
                await party.sent()
            else:
                over.set()

        threads = []
        for party in (self.near, self.far):
            await party.expect(size)
            threads.append(await party.call(partial(handler, party), partial(more, party)))
        clock, ended = Clock(self.lab, self.near.end.host), over.wait()
        clock.go()
        await self.near.send(size)
        await self.near.sent()
        await ended
        clock.stop()
        await self.lab.all([thread for thread in threads if thread is not None])
        self.lab.findings.messages += 2 * rounds
        return Measured(clock.elapsed / rounds / 2 / 1e6, clock.percent)

    async def fetches(self, count: int, window: int) -> Measured:
        """Measure RDMA reads of the far process's memory: rate in MB/s and CPU utilisation.

        Args:
            count: number of reads.
            window: number of posted and unfinished reads.
        """
        self.far.fill(self.lab.seed)
        clock = Clock(self.lab, self.near.end.host)

        async def reads() -> None:
            out = 0
            clock.go()
            for _ in range(count):
                if out == window:
                    await self.near.sent()
                    out -= 1
                await self.near.fetch()
                out += 1
            for _ in range(out):
                await self.near.sent()
            clock.stop()

        await self.lab.all([self.near.end.process.spawn(reads(), "reads")])
        self.near.has(self.far)
        self.lab.findings.messages += count
        return Measured(self.case.size * count / clock.elapsed * 1e6, clock.percent)

    async def stream(self, messages: int) -> Measured:
        """Measure a stream of `messages` messages back to back: rate in MB/s."""
        sizes = self.case.pieces * messages
        self.near.fill(self.lab.seed)
        for size in sizes[: self._posted]:
            await self.far.expect(size)
        await self.near.expect(ACK * self.case.segments)
        self._arrivals.clear()
        clock = Clock(self.lab, self.near.end.host)
        clock.go()
        sink = self._notified(sizes) if self.case.notify else self._sink(sizes)
        far = self.far.end.process.spawn(sink, "takes")
        near = self.near.end.process.spawn(self._source(sizes), "sends")
        await self.lab.all([near, far])
        clock.stop()
        self.streamed = self.lab.kernel.now - clock.elapsed, self.lab.kernel.now
        self.far.has(self.near)
        self.lab.findings.messages += len(sizes)
        half = len(sizes) // 2
        late = faster(half / len(sizes), self._arrivals[half - 1], self._arrivals[-1], *self.streamed)
        return Measured(self.case.size * messages / clock.elapsed * 1e6, clock.percent, late)

    async def _source(self, sizes: list[int]) -> None:
        out = 0
        for size in sizes:
            if out == self.case.window:
                await self.near.sent()
                out -= 1
            await self.near.send(size)
            out += 1
        for _ in range(out):
            await self.near.sent()
        await self.near.received()

    async def _sink(self, sizes: list[int]) -> None:
        for number in range(len(sizes)):
            await self.far.received()
            self._arrivals.append(self.lab.kernel.now)
            if number + self._posted < len(sizes):
                await self.far.expect(sizes[number + self._posted])
        await self._answer()

    async def _answer(self) -> None:
        """Answer the last message of a stream."""
        await self.far.send(ACK * self.case.segments)
        await self.far.sent()

    async def _notified(self, sizes: list[int]) -> None:
        """Receive a stream by a handler, which requests its next call before anything else."""
        over, taken = self.far.end.host.event("the last message of a stream"), 0

        async def handler(descriptor: Any) -> None:
            nonlocal taken
            number, taken = taken, taken + 1
            self._arrivals.append(self.lab.kernel.now)
            if taken < len(sizes):
                self.far.again()
            self.far.took(descriptor)
            if number + self._posted < len(sizes):
                await self.far.expect(sizes[number + self._posted])
            if taken == len(sizes):
                over.set()

        ended = over.wait()
        thread = await self.far.call(handler, lambda: taken < len(sizes))
        await ended
        if thread is not None:
            await thread.finished
        await self._answer()


async def latency(near: End, far: End, case: Case, rounds: int) -> Measured:
    """Return the one-way time under a condition; for an RDMA read, the time until the data have arrived."""
    link = await Link.make(near, far, case, rounds + 2 + AHEAD)
    if case.read:
        rate = await link.fetches(rounds, 1)
        measured = Measured(case.size / rate.value, rate.cpu)
    else:
        measured = await (link.notified(rounds) if case.notify else link.round_trips(rounds))
    await link.close()
    return measured


async def bandwidth(near: End, far: End, case: Case, messages: int) -> Measured:
    """Return the rate of a stream under a condition."""
    link = await Link.make(near, far, case, messages)
    measured = await (link.fetches(messages, case.window) if case.read else link.stream(messages))
    await link.close()
    return measured
