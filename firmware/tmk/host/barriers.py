"""Barriers: process 0 collects all arrivals and releases each process with the intervals it lacks."""

from __future__ import annotations

from firmware.tmk.host.coherence import Coherence
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.wire import Interval, Kind, Message, numbers, pack_intervals, unpack_intervals, words

BARRIERS = 64
OWN = BARRIERS
"""Number of the additional barrier that TreadMarks itself uses."""
MANAGER = 0


def _name(number: int) -> str:
    return "array or exit" if number == OWN else f"barrier {number}"


class Barriers:
    """Barriers of one process."""

    def __init__(self, coherence: Coherence, collect_bytes: int) -> None:
        self._coherence, self._me, self._limit = coherence, coherence.me, collect_bytes
        self._arrivals: dict[int, Message] = {}
        self._known_to_manager = 0
        """Last own interval that the manager has received at a barrier."""
        self.passed = self.collections = 0
        """Number of barriers, and of collections."""

    async def barrier(self, number: int) -> None:
        """Wait for all processes and exchange intervals. Raises TmkError for an invalid number."""
        if type(number) is not int or not 0 <= number < BARRIERS:
            what = f"{self._coherence.substrate.process.who}: barrier({number!r})"
            raise TmkError(what, f"barriers are 0 to {BARRIERS - 1}", "give a number in this range")
        await self.meet(number)

    async def meet(self, number: int) -> None:
        """Wait at any barrier, including the internal one."""
        coherence = self._coherence
        await coherence.end_interval()
        self.passed += 1
        if await self._meet(number, coherence.kept > self._limit):
            self.collections += 1
            await coherence.validate_written()
            await self._meet(number, False)  # all processes have updated their pages
            await coherence.collect()

    async def arrived(self, arrival: Message) -> None:
        """Record the arrival of another process (at the manager)."""
        self._arrivals[arrival.source] = arrival

    async def _meet(self, number: int, full: bool) -> bool:
        """Wait for all processes. Return True if any of them wants a collection."""
        coherence = self._coherence
        await coherence.substrate.process.spend("tmk_barrier")
        if self._me == MANAGER:
            return await self._manage(number, full)
        own = coherence.own_since(self._known_to_manager)
        self._known_to_manager = coherence.vector[self._me]
        body = words([full, *coherence.vector]) + pack_intervals(own)
        (answer,) = await coherence.request_all(
            {MANAGER: Message(Kind.ARRIVAL, self._me, number, coherence.sequence(), body)}, _name(number)
        )
        await coherence.learn(unpack_intervals(answer.body, 4, coherence.nodes))
        return bool(numbers(answer.body, 0, 1)[0])

    async def _manage(self, number: int, full: bool) -> bool:
        coherence, others = self._coherence, self._coherence.nodes - 1
        await coherence.substrate.until(lambda: len(self._arrivals) == others, _name(number))
        arrivals, self._arrivals = self._arrivals, {}
        for source, arrival in sorted(arrivals.items()):
            if arrival.number != number:
                what = f"{coherence.substrate.process.who}: {_name(number)}"
                cause = f"process {source} is at {_name(arrival.number)}"
                raise TmkError(what, cause, "call the same barrier in all processes")
            await coherence.substrate.process.spend("tmk_barrier")
            full = full or bool(numbers(arrival.body, 0, 1)[0])
        new: list[Interval] = []
        for arrival in arrivals.values():
            new += unpack_intervals(arrival.body, 4 * (1 + coherence.nodes), coherence.nodes)
        await coherence.learn(new)
        for source, arrival in sorted(arrivals.items()):
            vector = numbers(arrival.body, 4, coherence.nodes)
            body = words([full]) + pack_intervals(coherence.lacked_by(vector))
            await coherence.substrate.send(source, Message(Kind.DEPARTURE, self._me, number, arrival.sequence, body))
        return full
