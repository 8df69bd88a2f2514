"""Completion of descriptors: status, completion-queue entry (CQ1; 2.2.4) and interrupt for a sleeping thread.

The NIC writes the status into the user's descriptor (paper 001, 3.2.1).
"""

from __future__ import annotations

from collections import deque

from firmware.via.formats import Field, Status
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.layout import ROUND, ROUNDS, VALID, Queue, Vi
from firmware.via.nic.ni import Ni

SENT, RECEIVED = 1, 2
"""Bits of Vi.NOTIFY."""


class Completions:
    """Writer of statuses and completion-queue entries."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._entries = ni.options.completion == "cq1"
        self._rings: dict[int, tuple[int, int, int, int]] = {}
        """Completion queues: physical address and size of the ring, next entry, and round."""
        self._fresh: deque[tuple[int, Endpoint, int]] = deque()
        """Completions not yet in host memory: number of their last store, VI, side."""

    async def send(self, endpoint: Endpoint, descriptor: int, length: int, status: int) -> None:
        """Complete a send or RDMA operation. Descriptor 0 means that it no longer exists, and gets no status."""
        if endpoint.connection.reliable:
            await self._nic.work("count_answered")
            endpoint.acknowledged = endpoint.acknowledged + 1 & 0xFFFFFFFF
            self._nic.store(endpoint.words + Vi.ANSWERED, endpoint.acknowledged)
        if descriptor:
            await self._status(endpoint, descriptor, length, status | Status.DONE, None)
            await self._after(endpoint, SENT, Vi.SEND_QUEUE)

    async def acknowledged(self, endpoint: Endpoint) -> None:
        """Complete the finished sends of a reliable connection, up to the first that is not finished."""
        sent = endpoint.connection.unacknowledged
        while sent and sent[0].over:
            done = sent.popleft()
            await self.send(endpoint, done.descriptor, done.length, done.operation)

    async def receive(
        self,
        endpoint: Endpoint,
        descriptor: int,
        length: int,
        status: int,
        immediate: int | None = None,
        number: int = 0,
    ) -> None:
        """Complete a receive descriptor. Descriptor 0 means that it no longer exists, and gets no status.

        `number` is the number of the received message in the trace.
        """
        if descriptor:
            await self._status(endpoint, descriptor, length, status | Status.DONE | Status.RECEIVE, immediate, number)
            await self._after(endpoint, RECEIVED, Vi.RECEIVE_QUEUE)

    async def _status(
        self, endpoint: Endpoint, descriptor: int, length: int, status: int, immediate: int | None, number: int = 0
    ) -> None:
        await self._nic.work_on("user_status" if endpoint.user else "write_status")
        words: tuple[int, ...] = (length, int(status))
        if immediate is None:
            await self._ni.store(descriptor + Field.LENGTH, words, number)
        else:
            words = immediate, length, int(status) | Status.IMMEDIATE
            await self._ni.store(descriptor + Field.IMMEDIATE, words, number)

    async def _after(self, endpoint: Endpoint, side: int, queue: Vi) -> None:
        """Write the completion-queue entry, and schedule the interrupt for a sleeping thread."""
        if self._entries and (number := self._nic.load(endpoint.words + queue)):
            await self._entry(number - 1, endpoint.number, side)
        self._fresh.append((self._ni.stores, endpoint, side))
        await self.stored()

    def take_queue(self, queue: int) -> None:
        """Take over the new ring of a completion queue, or forget a destroyed queue."""
        address, entries = self._nic.load_words(self._ni.layout.queue(queue) + Queue.ADDRESS, 2)
        if entries:
            self._rings[queue] = address, entries, 0, 0
        else:
            del self._rings[queue]

    async def stored(self) -> None:
        """Interrupt the host for completions that have reached host memory, if a thread sleeps on their VI.

        Not earlier: a thread announces its sleep to the NIC and then checks host memory, where it would miss a status
        in flight.
        """
        while self._fresh and self._fresh[0][0] <= self._port.stored:
            _, endpoint, side = self._fresh.popleft()
            asleep = self._nic.load(endpoint.words + Vi.NOTIFY) & side
            await self._nic.work_on("user_sleeper" if endpoint.user else "look_sleeper")
            if asleep:
                await self._port.interrupt()

    async def _entry(self, queue: int, vi: int, side: int) -> None:
        """Write an entry of a completion queue."""
        await self._nic.work_on("write_entry")
        address, entries, place, turn = self._rings[queue]
        around, following = divmod(place + 1, entries)
        self._rings[queue] = address, entries, following, turn + around & ROUNDS
        await self._ni.store(address + 4 * place, (VALID | turn << ROUND | side << 8 | vi,))
