"""One condition of a measurement over VIA, and one end of a connection under it (paper 001, 4.2.2)."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from firmware.via.formats import Reliability, Status
from pymodels.host import Sig
from tb.studies.via._via_ends import End, Memory, Ring

ENTRIES = 512
"""Of a completion queue."""
AHEAD = 2
"""Receives that are posted ahead in round trips."""
LONGEST = {"bvia1": 4096}
"""Bytes of a message at most by preset, where it is not what VIA takes (readings C8)."""
ONE_AT_A_TIME = ("bvia1", "bvia2")
"""One word as doorbell: the next descriptor is posted when the NIC is done with the one before (paper 001, 2.2.1)."""


@dataclass(frozen=True)
class Case:
    """One condition; what it does not name is as in the base configuration of the paper."""

    size: int = 4
    block: bool = False
    """Wait by sleeping in the kernel, not by polling."""
    queue: int = 0
    """Receives are reported by a completion queue, which so many receive queues have."""
    reuse: int = 100
    """Percent of the messages that use the first buffer; the others use one of their own."""
    one: bool = False
    """Messages are received into the buffer from which they are sent."""
    segments: int = 1
    vis: int = 1
    """Connected VIs between the two processes; one of them is used."""
    notify: Literal["", "thread", "signal"] = ""
    """A handler is called for each receive, and answers: each time in a thread of its own, or of a signal."""
    rdma: bool = False
    """Data go by RDMA write with immediate data."""
    read: bool = False
    """The near process fetches data by RDMA read."""
    most: int = 1 << 16
    """Maximum transfer size: longer messages go in pieces."""
    reliability: Reliability = Reliability.UNRELIABLE
    window: int = 16
    """Sends of a stream that are posted and not taken back."""

    @classmethod
    def of_stream(cls, preset: str, size: int, window: int) -> Case:
        """A stream by an implementation of VIA: messages of this size, or of the longest that it takes, and `window` of
        them posted at a time where it takes more than one.
        """
        longest = LONGEST.get(preset, 1 << 16)
        return cls(min(size, longest), most=longest, window=1 if preset in ONE_AT_A_TIME else window)

    @property
    def pieces(self) -> list[int]:
        """Bytes of the messages that one message of the application makes."""
        whole, rest = divmod(self.size, self.most)
        return [self.most] * whole + [rest] * (rest > 0 or not whole)

    def place(self, number: int) -> int:
        """Buffer of a message: the first one, or a fresh one, spread evenly."""
        share = 100 - self.reuse
        fresh = (number + 1) * share // 100
        return fresh if fresh != number * share // 100 else 0


class Party:
    """One end of a connection under a condition: its VI and its rings of descriptors."""

    def __init__(self, end: End, vi: Any, case: Case, sends: Ring, receives: Ring, queue: Any) -> None:
        self.end, self.vi, self.case, self.queue = end, vi, case, queue
        self.sends, self.receives = sends, receives
        self.queued = 1
        """Receive queues that the completion queue has."""
        self.target: Memory | None = None
        """Where RDMA writes go, or reads come from: the peer's memory."""
        self._sent = self._expected = 0
        self._told = False

    @classmethod
    async def make(cls, end: End, case: Case, messages: int, shared: Any = None) -> Party:
        """A VI with buffers for so many messages; its receive queue may belong to a completion queue `shared` with
        others, at which somebody else looks.
        """
        fresh = messages * (100 - case.reuse) // 100
        queue = await end.nic.create_cq(ENTRIES) if case.queue else shared
        queues = {"receive_cq": queue} if queue is not None else {}
        vi = await end.vi(reliability=case.reliability, most=case.most, **queues)
        depth, size = len(case.pieces) * max(case.window, AHEAD) + AHEAD, min(case.size, case.most)
        sends = await Ring.make(end, depth, size, 1 + fresh, case.segments, rdma_read=case.read)
        depth = max(depth, messages * len(case.pieces) + AHEAD) + case.queue
        if case.one:
            receives = await sends.beside(depth)
        else:
            receives = await Ring.make(end, depth, size, 1 + fresh, case.segments, rdma_write=case.rdma)
        return cls(end, vi, case, sends, receives, queue if case.queue else None)

    async def idle_vi(self) -> Any:
        """A VI beside it that nothing is sent to; its receive queue belongs to the completion queue, if that has room
        in the condition, and has a descriptor.
        """
        if self.queued >= self.case.queue:
            return await self.end.vi()
        vi = await self.end.vi(receive_cq=self.queue)
        self.queued += 1
        await vi.post_receive(self.receives.next().receive(self.receives.pieces(4, 0)))
        return vi

    async def expect(self, size: int) -> None:
        """Post a receive."""
        pieces = self.receives.pieces(size, self.case.place(self._expected))
        self._expected += 1
        await self.vi.post_receive(self.receives.next().receive([] if self.case.rdma else pieces))

    async def send(self, size: int) -> None:
        """Post a send."""
        place, descriptor = self.case.place(self._sent), self.sends.next()
        pieces = self.sends.pieces(size, place)
        self._sent += 1
        if self.target is not None:
            descriptor.rdma_write(pieces, self.target.va, self.target.handle, immediate=self._sent)
        else:
            descriptor.send(pieces)
        await self.vi.post_send(descriptor)

    async def fetch(self) -> None:
        """Post an RDMA read of the peer's first message."""
        if self.target is None:
            raise RuntimeError("nobody says what to read")
        pieces = self.receives.pieces(self.case.size, 0)
        await self.vi.post_send(self.sends.next().rdma_read(pieces, self.target.va, self.target.handle))

    async def sent(self) -> None:
        """Take the oldest send back."""
        self.took(await (self.vi.send_wait() if self.case.block else self.vi.poll_send()))

    async def received(self) -> None:
        """Wait for a message, and take it back."""
        if self.queue is not None:
            await (self.queue.wait() if self.case.block else self.queue.poll())
            done = await self.vi.receive_done()
        else:
            done = await (self.vi.receive_wait() if self.case.block else self.vi.poll_receive())
        self.took(done)

    async def call(self, handler: Callable[[Any], Awaitable[None]], more: Callable[[], bool]) -> Any:
        """From now on have `handler(descriptor)` called for each receive, by a thread, which it asks for again
        (`again`), or by signals, for which a thread of the process sleeps while there are `more()`; that thread.
        """
        self._handler = handler
        if self.case.notify == "thread":
            self.again()
            return None
        process = self.end.process

        async def take(sig: Sig) -> None:
            while (descriptor := await self.vi.receive_done()) is not None:
                await handler(descriptor)

        async def sleep() -> None:
            while more():
                await process.suspend()
            await self.vi.receive_signal(None)

        process.on_signal(Sig.IO, take)
        await self.vi.receive_signal(Sig.IO)
        return process.spawn(sleep(), "sleeps between signals")

    def again(self) -> None:
        """Have the handler called for the next receive too; signals go on by themselves."""
        if self.case.notify == "thread":
            self.vi.receive_notify(lambda vi, descriptor: self._handler(descriptor))

    def fill(self, seed: int) -> None:
        """Known bytes into the first message that it sends."""
        size = self.case.pieces[0]
        data = random.Random(f"{seed} {self.end.node}").randbytes(size)
        self.sends.fill(size, self.case.place(0), data)

    def has(self, peer: Party) -> None:
        """Check that the first message of the peer has arrived as it was sent."""
        size, place = self.case.pieces[0], self.case.place(0)
        same = self.receives.held(size, place) == peer.sends.held(size, place)
        self.end.lab.check(same, f"{self.end.process.who}: the message arrived changed under {self.case}")

    def took(self, done: Any) -> None:
        """A descriptor was taken back: is it right?"""
        if done.status & Status.ERRORS and not self._told:
            self._told = True
            self.end.lab.check(False, f"{self.end.process.who}: {Status(done.status)!r} under {self.case}")

    async def close(self) -> None:
        """Give its memory back; its VI is gone."""
        await self.sends.close()
        await self.receives.close()
        if self.queue is not None:
            await self.queue.destroy()
