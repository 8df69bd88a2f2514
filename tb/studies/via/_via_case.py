"""Condition of a measurement over VIA, and one end of a connection under it (paper 001, 4.2.2)."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from firmware.via.formats import Reliability, Status
from pymodels.host import Sig
from tb.studies.via._via_ends import End, Memory, Ring

ENTRIES = 512
"""Entries of a completion queue."""
AHEAD = 2
"""Number of receives that are posted ahead in round trips."""
LONGEST = {"bvia1": 4096}
"""Longest message in bytes by preset, where it is shorter than VIA's limit (readings C8)."""
ONE_AT_A_TIME = ("bvia1", "bvia2")
"""Presets with one word as doorbell: a descriptor is posted after the NIC has finished the previous one (paper 001,
2.2.1).
"""


@dataclass(frozen=True)
class Case:
    """Condition of a measurement; the defaults are the base configuration of the paper."""

    size: int = 4
    block: bool = False
    """True to wait by sleeping in the kernel instead of polling."""
    queue: int = 0
    """Number of receive queues of the completion queue that reports receives; 0 for none."""
    reuse: int = 100
    """Percentage of the messages that use the first buffer; each of the others uses its own buffer."""
    one: bool = False
    """True to receive messages into the buffer from which they are sent."""
    segments: int = 1
    vis: int = 1
    """Number of connected VIs between the two processes, one of which is used."""
    notify: Literal["", "thread", "signal"] = ""
    """Handler that is called for each receive and answers: in a new thread each, or by a signal. Empty: no handler."""
    rdma: bool = False
    """True to send data by RDMA write with immediate data."""
    read: bool = False
    """True if the near process fetches data by RDMA read."""
    most: int = 1 << 16
    """Maximum transfer size in bytes; longer messages are sent in pieces."""
    reliability: Reliability = Reliability.UNRELIABLE
    window: int = 16
    """Number of posted and unfinished sends in a stream."""

    @classmethod
    def of_stream(cls, preset: str, size: int, window: int) -> Case:
        """Return the condition of a stream for an implementation of VIA.

        Args:
            preset: name of the implementation's preset.
            size: bytes of a message; reduced to the longest message of the implementation.
            window: messages posted at a time; reduced to 1 if the implementation accepts only one.
        """
        longest = LONGEST.get(preset, 1 << 16)
        return cls(min(size, longest), most=longest, window=1 if preset in ONE_AT_A_TIME else window)

    @property
    def pieces(self) -> list[int]:
        """Sizes in bytes of the VIA messages that one message of the application becomes."""
        whole, rest = divmod(self.size, self.most)
        return [self.most] * whole + [rest] * (rest > 0 or not whole)

    def place(self, number: int) -> int:
        """Return the buffer number of a message: 0 for the first, or a fresh one (spread evenly)."""
        share = 100 - self.reuse
        fresh = (number + 1) * share // 100
        return fresh if fresh != number * share // 100 else 0


class Party:
    """End of a connection under a condition: its VI and its rings of descriptors."""

    def __init__(self, end: End, vi: Any, case: Case, sends: Ring, receives: Ring, queue: Any) -> None:
        self.end, self.vi, self.case, self.queue = end, vi, case, queue
        self.sends, self.receives = sends, receives
        self.queued = 1
        """Number of receive queues of the completion queue."""
        self.target: Memory | None = None
        """Memory of the peer that RDMA writes to or reads from."""
        self._sent = self._expected = 0
        self._told = False

    @classmethod
    async def make(cls, end: End, case: Case, messages: int, shared: Any = None) -> Party:
        """Create a VI with buffers for `messages` messages.

        With `shared`, its receive queue belongs to that completion queue, which other code polls.
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
        """Create a further VI without traffic and return it.

        If the condition allows another receive queue in the completion queue, the VI's receive queue joins it and gets
        a descriptor.
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
        """Post an RDMA read of the peer's first message. Raises RuntimeError if no target is set."""
        if self.target is None:
            raise RuntimeError("RDMA read without a target; set `target` first")
        pieces = self.receives.pieces(self.case.size, 0)
        await self.vi.post_send(self.sends.next().rdma_read(pieces, self.target.va, self.target.handle))

    async def sent(self) -> None:
        """Wait for the oldest send to finish and dequeue it."""
        self.took(await (self.vi.send_wait() if self.case.block else self.vi.poll_send()))

    async def received(self) -> None:
        """Wait for a message and dequeue its descriptor."""
        if self.queue is not None:
            await (self.queue.wait() if self.case.block else self.queue.poll())
            done = await self.vi.receive_done()
        else:
            done = await (self.vi.receive_wait() if self.case.block else self.vi.poll_receive())
        self.took(done)

    async def call(self, handler: Callable[[Any], Awaitable[None]], more: Callable[[], bool]) -> Any:
        """Have `handler(descriptor)` called for each receive from now on.

        With threads, the handler requests the next call by `again`. With signals, a thread of the process sleeps while
        `more()` is true.

        Returns:
            The sleeping thread, or None with threads.
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
        """Request the handler's call for the next receive; not needed with signals, which continue by themselves."""
        if self.case.notify == "thread":
            self.vi.receive_notify(lambda vi, descriptor: self._handler(descriptor))

    def fill(self, seed: int) -> None:
        """Fill the first message to be sent with known bytes."""
        size = self.case.pieces[0]
        data = random.Random(f"{seed} {self.end.node}").randbytes(size)
        self.sends.fill(size, self.case.place(0), data)

    def has(self, peer: Party) -> None:
        """Check that the first message of the peer has arrived unchanged."""
        size, place = self.case.pieces[0], self.case.place(0)
        same = self.receives.held(size, place) == peer.sends.held(size, place)
        self.end.lab.check(
            "first message", same, f"{self.end.process.who}: the message arrived corrupted under {self.case}"
        )

    def took(self, done: Any) -> None:
        """Check the status of a dequeued descriptor; reports only the first error."""
        failed = bool(done.status & Status.ERRORS) and not self._told
        self._told |= failed
        failure = f"{self.end.process.who}: {Status(done.status)!r} under {self.case}" if failed else ""
        self.end.lab.check("status of descriptors", not failed, failure)

    async def close(self) -> None:
        """Release the memory, after the VI has been destroyed."""
        await self.sends.close()
        await self.receives.close()
        if self.queue is not None:
            await self.queue.destroy()
