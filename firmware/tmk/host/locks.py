"""Locks: a manager forwards each Request to the last requester; a release notifies only a waiting process."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.tmk.host.coherence import Coherence
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.wire import Kind, Message, numbers, pack_intervals, unpack_intervals, words

LOCKS = 1024


@dataclass
class Lock:
    """State of a lock at one process."""

    here: bool
    """True if the lock was last released here, and no other process has requested it since."""
    last: int
    """Last requester (at the manager)."""
    held: bool = False
    next: Message | None = None
    """Pending Request of the next owner."""


class Locks:
    """Locks of one process."""

    def __init__(self, coherence: Coherence) -> None:
        self._coherence, self._me = coherence, coherence.me
        nodes = coherence.nodes
        self._locks = [Lock(number % nodes == self._me, number % nodes) for number in range(LOCKS)]
        self.acquired = self.remote = 0
        """Number of acquisitions, and of those that needed another process."""

    async def acquire(self, number: int) -> None:
        """Acquire a lock and the knowledge of its previous owner."""
        lock, coherence = self._get(number, "lock_acquire"), self._coherence
        if lock.held:
            raise self._error("lock_acquire", number, "the process holds the lock", "release it first")
        await coherence.substrate.process.spend("tmk_lock")
        self.acquired += 1
        if lock.here and lock.next is None:
            lock.held = True
            return
        self.remote += 1
        await coherence.end_interval()
        request = Message(Kind.LOCK, self._me, number, coherence.sequence(), words([self._me, *coherence.vector]))
        manager = number % coherence.nodes
        if manager == self._me:
            before, lock.last = lock.last, self._me
            await coherence.substrate.send(before, request)
        else:
            await coherence.substrate.send(manager, request)
        grant = await coherence.substrate.response(f"lock {number}", coherence.substrate.others)
        lock.here = lock.held = True
        await coherence.learn(unpack_intervals(grant.body, 0, coherence.nodes))

    async def release(self, number: int) -> None:
        """Release a lock and grant it to a waiting process."""
        lock, coherence = self._get(number, "lock_release"), self._coherence
        if not lock.held:
            raise self._error("lock_release", number, "the process does not hold the lock", "acquire it first")
        await coherence.substrate.process.spend("tmk_lock")
        await coherence.end_interval()
        lock.held = False
        if lock.next is not None:
            request, lock.next = lock.next, None
            await self._grant(lock, request)

    async def handle_request(self, request: Message) -> None:
        """Forward, queue or grant another process's Request."""
        lock, requester = self._locks[request.number], numbers(request.body, 0, 1)[0]
        await self._coherence.substrate.process.spend("tmk_lock")
        if request.number % self._coherence.nodes == self._me and request.source == requester:
            before, lock.last = lock.last, requester
            if before != self._me:
                await self._coherence.substrate.send(before, request._replace(source=self._me))
                return
        if lock.here and not lock.held:
            await self._grant(lock, request)
        else:
            lock.next = request

    async def _grant(self, lock: Lock, request: Message) -> None:
        lock.here = False
        requester, *vector = numbers(request.body, 0, 1 + self._coherence.nodes)
        body = pack_intervals(self._coherence.lacked_by(vector))
        answer = Message(Kind.GRANT, self._me, request.number, request.sequence, body)
        await self._coherence.substrate.send(requester, answer)

    def _get(self, number: int, call: str) -> Lock:
        if type(number) is not int or not 0 <= number < LOCKS:
            raise self._error(call, number, f"locks are 0 to {LOCKS - 1}", "give a number in this range")
        return self._locks[number]

    def _error(self, call: str, number: int, cause: str, remedy: str) -> TmkError:
        return TmkError(f"{self._coherence.substrate.process.who}: {call}({number!r})", cause, remedy)
