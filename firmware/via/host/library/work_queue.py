"""Work queue of a VI in its process: posted descriptors, taken back when they are complete."""

from __future__ import annotations

from collections import deque

from firmware.via.formats import Field, Status
from firmware.via.host.common.checks import check_time_limit, check_type
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Limit
from firmware.via.host.common.work_queues import RECEIVED, SENT
from firmware.via.host.kernel_agent.vis.table import KernelVi
from firmware.via.host.library.descriptor import Descriptor
from firmware.via.host.library.open_nic import OpenNic
from firmware.via.host.library.posting import poster_of
from firmware.via.host.library.spinning import spin_on
from pymodels.host import Moves
from pymodels.trace import TraceEvent


class WorkQueue:
    """Descriptors of a queue that are posted and not taken back, in order."""

    def __init__(self, nic: OpenNic, vi: KernelVi, side: int) -> None:
        self._nic, self._vi, self.side = nic, vi.context, side
        self.reported = 0
        """Number of complete descriptors that a completion queue has reported and that are not taken back."""
        self._host, self._process = nic.host, nic.process
        self._posted: deque[Descriptor] = deque()
        self.moves = Moves()
        """Notification that the words which a thread polls have changed."""
        self.poster = poster_of(nic, vi, side)

    def __len__(self) -> int:
        return len(self._posted)

    async def post(self, descriptor: Descriptor) -> None:
        """Append a descriptor and give it to the NIC. Raises VipError if too many are posted."""
        self._vi.check("posting to")
        check_type(descriptor, Descriptor, "create it by nic.descriptor")
        if descriptor.process is not self._process:
            raise VipError(Result.INVALID_PARAMETER, f"posting {descriptor!r}", "post a descriptor of this process")
        most = self._nic.options.outstanding
        if len(self._posted) >= most:
            what = f"posting descriptor {len(self._posted) + 1} of a queue"
            raise VipError(
                Result.ERROR_RESOURCE, what, f"take back complete descriptors, or raise via.outstanding ({most})"
            )
        number = self._nic.begun(descriptor) if self.side == SENT else 0
        await self._process.spend("post_user")
        await self._process.overhead("post_user")
        self._process.store_words(descriptor.va + Field.LENGTH, (0, 0))
        self._posted.append(descriptor)
        self.moves.moved()
        try:
            await self.poster.post(descriptor, len(self._posted) - 1)
        except VipError:
            self._posted.remove(descriptor)
            self.moves.moved()
            raise
        if self.side == SENT:
            self._host.trace(TraceEvent.SEND_RETURN, 0, descriptor.size, message=number)

    def _news(self) -> bool:
        """Return True if the oldest descriptor is complete, or the VI is destroyed."""
        return self.over() or self._vi.dead

    def over(self) -> bool:
        """Return True if the oldest descriptor is complete."""
        return bool(self._posted) and bool(self._posted[0].status)

    def awaited(self) -> int | None:
        """Return the address of the oldest status that no completion queue has reported, or None."""
        return self._posted[self.reported].va + Field.STATUS if self.reported < len(self._posted) else None

    def news(self) -> bool:
        """Return True if the oldest descriptor that no completion queue has reported is complete."""
        return self.reported < len(self._posted) and bool(self._posted[self.reported].status)

    async def done(self) -> Descriptor | None:
        """Take back the oldest descriptor if it is complete, or return None. Raises VipError."""
        self._vi.check("polling")
        await self._process.spend("look_done")
        return await self._take()

    async def poll(self) -> Descriptor:
        """Spin until the oldest descriptor is complete, and take it back. Raises VipError if none is posted."""
        while (descriptor := await self._take()) is None:
            self._check_posted()
            await spin_on(self._process, [(self._posted[0].va + Field.STATUS, 0)], self.moves)
        return descriptor

    async def wait(self, timeout_us: float | None) -> Descriptor:
        """Sleep until the oldest descriptor is complete, and take it back.

        Raises VipError after the time limit, or if no descriptor is posted.
        """
        check_time_limit(timeout_us, endless=True)
        self._check_posted()
        limit = Limit(self._host, timeout_us)
        await self._process.spend("look_done")
        while (descriptor := await self._take()) is None:
            if limit.over:
                raise VipError(Result.TIMEOUT, "waiting for a descriptor", "wait longer")
            self._vi.check("waiting at")
            await self._nic.sleep(self._news, [(self._vi.number, self.side)], limit.left_us)
        return descriptor

    def _check_posted(self) -> None:
        self._vi.check("waiting at")
        if not self._posted:
            raise VipError(
                Result.INVALID_STATE, "waiting for a descriptor without posted descriptors", "post a descriptor first"
            )

    async def _take(self) -> Descriptor | None:
        """Take back the oldest descriptor if it is complete, before any other thread can, or return None."""
        if not self.over():
            return None
        descriptor = self._posted.popleft()
        self.reported = max(self.reported - 1, 0)
        self.moves.moved()
        await self._process.spend("take_done")
        if self.side == RECEIVED and not descriptor.status & Status.ERRORS:
            ((physical, _),) = self._process.pieces(descriptor.va, 1)
            message = self._host.message_at(physical)
            self._host.trace(TraceEvent.POLL_HIT, 0, self._vi.number, self._vi.peer, message=message)
        return descriptor
