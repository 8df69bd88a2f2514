"""Barriers: process 0 receives all arrivals, and releases all with what each lacks. Records are collected here."""

from __future__ import annotations

from firmware.tmk.host.coherence import Coherence
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.wire import Interval, Kind, Message, numbers, pack_intervals, unpack_intervals, words

BARRIERS = 64
OWN = BARRIERS
"""One more, which TreadMarks itself uses."""
MANAGER = 0


def _name(number: int) -> str:
    return "array or exit" if number == OWN else f"barrier {number}"


class Barriers:
    """Of one process."""

    def __init__(self, coherence: Coherence, collect_bytes: int) -> None:
        self._coherence, self._me, self._limit = coherence, coherence.me, collect_bytes
        self._arrivals: dict[int, Message] = {}
        self._told = 0
        """The last own interval that the manager has received at a barrier."""
        self.passed = self.collections = 0
        """Barriers so far, and collections."""

    async def barrier(self, number: int) -> None:
        """Wait until all are here, and know what they know. Raises TmkError."""
        if type(number) is not int or not 0 <= number < BARRIERS:
            what = f"{self._coherence.substrate.process.who}: barrier({number!r})"
            raise TmkError(what, f"barriers are 0 to {BARRIERS - 1}", "give one of them")
        await self.meet(number)

    async def meet(self, number: int) -> None:
        """The same, at any barrier."""
        coherence = self._coherence
        await coherence.end_interval()
        self.passed += 1
        if await self._meet(number, coherence.kept > self._limit):
            self.collections += 1
            await coherence.validate_written()
            await self._meet(number, False)  # all have what they need
            await coherence.collect()

    async def arrived(self, arrival: Message) -> None:
        """At the manager: a Request."""
        self._arrivals[arrival.source] = arrival

    async def _meet(self, number: int, full: bool) -> bool:
        """All arrive, then all depart; whether one of them is full of records."""
        coherence = self._coherence
        await coherence.substrate.process.spend("tmk_barrier")
        if self._me == MANAGER:
            return await self._manage(number, full)
        own = coherence.own_since(self._told)
        self._told = coherence.vector[self._me]
        body = words([full, *coherence.vector]) + pack_intervals(own)
        (answer,) = await coherence.ask(
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
                raise TmkError(what, cause, "reach the same one everywhere")
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
