"""Completion queues: one place to find the completions of many work queues (VipCreateCQ, VipCQDone, ...)."""

from __future__ import annotations

from firmware.common.host.lock import Lock
from firmware.via.host.common.checks import check_callable, check_integer, check_time_limit
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Handler, Limit
from firmware.via.host.library.entry_ring import MOST_ENTRIES, EntryRing
from firmware.via.host.library.finders import EntryRings, Finder, WorkQueueScan
from firmware.via.host.library.open_nic import OpenNic
from firmware.via.host.library.vi import Vi
from firmware.via.host.library.work_queue import WorkQueue
from pymodels.host.process import Process


class CompletionQueue:
    """Completion queue (VipCreateCQ)."""

    def __init__(self, nic: OpenNic, number: int, ring: EntryRing) -> None:
        self._nic, self.number = nic, number
        self._finder: Finder = (EntryRings if nic.options.completion == "cq1" else WorkQueueScan)(nic.process, ring)
        self.wants: list[tuple[int, int]] = []
        """VIs and work queues whose completions go to this queue."""
        self.users = 0
        """Number of VIs that use the queue, including VIs being created."""
        self.destroyed = False
        self._resizing = Lock(nic.host, f"the end of a change of size of completion queue {number}")

    @staticmethod
    async def create(nic: OpenNic, entries: int) -> CompletionQueue:
        """Create a queue with room for `entries` completions (VipCreateCQ). Raises VipError."""
        ring = await _new_ring(nic, entries)
        number = await nic.agent.queues.take(ring.physical, entries)
        if number is None:
            ring.release()
            raise VipError(Result.ERROR_RESOURCE, "creating a completion queue", "destroy one, or raise via.queues")
        nic.queues += 1
        return CompletionQueue(nic, number, ring)

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Add a work queue whose completions go to this queue."""
        self._finder.attach(vi, queue)
        self.wants.append((vi.number, queue.side))

    def detach(self, vi: Vi) -> None:
        """Remove a destroyed VI."""
        self._finder.detach(vi)
        self.wants[:] = [want for want in self.wants if want[0] != vi.number]
        self.users -= 1

    def check(self, doing: str, process: Process | None = None) -> None:
        """Raise VipError if the queue is destroyed, or belongs to another process."""
        if self.destroyed:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "create another one: this one is destroyed")
        if process is not None and process is not self._nic.process:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "give a completion queue of this process")

    async def done(self) -> tuple[Vi, bool] | None:
        """Return a completion: the VI, and True for a receive; or None (VipCQDone). Raises VipError."""
        self.check("querying")
        return await self._finder.look()

    async def poll(self) -> tuple[Vi, bool]:
        """Spin on VipCQDone until it returns a completion. Raises VipError."""
        self.check("polling")
        while (found := await self._finder.look()) is None:
            self.check("polling")
            await self._finder.spin()
        return found

    @property
    def over(self) -> bool:
        """True if a completion is available, for callers that poll more than this queue (`watches`)."""
        return self._finder.over()

    def watches(self) -> list[tuple[int, int]]:
        """Return address and present value of the words that `poll` spins on. `done` may change them."""
        self.check("polling")
        return self._finder.watches()

    async def wait(self, timeout_us: float | None = None) -> tuple[Vi, bool]:
        """Sleep until a completion is available, and return it (VipCQWait). Raises VipError: TIMEOUT."""
        check_time_limit(timeout_us, endless=True)
        self.check("waiting at")
        limit = Limit(self._nic.host, timeout_us)
        while (found := await self._finder.look()) is None:
            if limit.over:
                raise VipError(Result.TIMEOUT, "waiting for a completion", "wait longer")
            await self._nic.sleep(self._news, self.wants, limit.left_us)
            self.check("waiting at")
        return found

    def _news(self) -> bool:
        return self.destroyed or self._finder.over()

    def notify(self, handler: Handler) -> None:
        """Call `handler(vi, is_receive)` in a new thread at the next completion (VipCQNotify). Raises VipError."""
        self.check("waiting at")
        check_callable(handler)

        async def thread() -> None:
            """Sleep until a completion, then call the handler."""
            called = handler(*await self.wait())
            if called is not None:
                await called

        self._nic.process.spawn(thread(), f"notify of completion queue {self.number}")

    async def destroy(self) -> None:
        """Destroy the queue (VipDestroyCQ). Raises VipError while a VI uses it."""
        self.check("destroying")
        if self.users:
            raise VipError(Result.ERROR_RESOURCE, "destroying a completion queue in use", "destroy its VIs first")
        self.destroyed = True  # before the wait, so that no VI begins to use it
        async with self._resizing:
            await self._forget()
            self._finder.release()

    async def _forget(self) -> None:
        """Execute the kernel's part of VipDestroyCQ."""
        nic = self._nic
        nic.queues -= 1
        nic.agent.sleepers.wake()
        await nic.process.syscall()
        await nic.process.spend("destroy_queue")
        await nic.agent.queues.free(self.number)

    async def resize(self, entries: int) -> None:
        """Change the size to `entries` completions, without losing any (VipResizeCQ). Raises VipError."""
        async with self._resizing:
            self.check("resizing")
            ring = await _new_ring(self._nic, entries)
            await self._nic.agent.queues.set_ring(self.number, ring.physical, entries)
            self._finder.grow(ring)


async def _new_ring(nic: OpenNic, entries: int) -> EntryRing:
    """Execute the kernel's part of creating a ring. Raises VipError."""
    check_integer("completions of a queue", entries, 1, MOST_ENTRIES)
    await nic.process.syscall()
    await nic.process.spend("create_queue")
    return EntryRing(nic.process, entries)
