"""Completion queues: one place to look for what is done in many work queues (VipCreateCQ, VipCQDone, ...)."""

from __future__ import annotations

from firmware.common.host.lock import Lock
from firmware.via.host.common.checks import handler_of, time_limit, whole
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Handler, Limit
from firmware.via.host.library.entry_ring import MOST_ENTRIES, EntryRing
from firmware.via.host.library.finders import Entries, Finder, Looks
from firmware.via.host.library.open_nic import OpenNic
from firmware.via.host.library.vi import Vi
from firmware.via.host.library.work_queue import WorkQueue
from pymodels.host.process import Process


class CompletionQueue:
    """VipCreateCQ's."""

    def __init__(self, nic: OpenNic, number: int, ring: EntryRing) -> None:
        self._nic, self.number = nic, number
        self._finder: Finder = (Entries if nic.options.completion == "cq1" else Looks)(nic.process, ring)
        self.wants: list[tuple[int, int]] = []
        """The work queues whose completions come here: VI, side."""
        self.users = 0
        """VIs that are made to use it, or do."""
        self.destroyed = False
        self._resizing = Lock(nic.host, f"the end of a change of size of completion queue {number}")

    @staticmethod
    async def create(nic: OpenNic, entries: int) -> CompletionQueue:
        """VipCreateCQ: room for so many completions. Raises VipError."""
        ring = await _new_ring(nic, entries)
        number = await nic.agent.queues.take(ring.physical, entries)
        if number is None:
            ring.release()
            raise VipError(Result.ERROR_RESOURCE, "creating a completion queue", "destroy one, or raise via.queues")
        nic.queues += 1
        return CompletionQueue(nic, number, ring)

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """A work queue whose completions come here."""
        self._finder.attach(vi, queue)
        self.wants.append((vi.number, queue.side))

    def detach(self, vi: Vi) -> None:
        """A VI that used it is no more."""
        self._finder.detach(vi)
        self.wants[:] = [want for want in self.wants if want[0] != vi.number]
        self.users -= 1

    def check(self, doing: str, process: Process | None = None) -> None:
        """Whether it is, and is a process's. Raises VipError."""
        if self.destroyed:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "it is destroyed: create another one")
        if process is not None and process is not self._nic.process:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "it is another process's: give one of this process")

    async def done(self) -> tuple[Vi, bool] | None:
        """VipCQDone: a VI with something done, and whether it is a receive. Raises VipError."""
        self.check("looking at")
        return await self._finder.look()

    async def poll(self) -> tuple[Vi, bool]:
        """VipCQDone again and again until it gives something. Raises VipError."""
        self.check("polling")
        while (found := await self._finder.look()) is None:
            self.check("polling")
            await self._finder.spin()
        return found

    @property
    def over(self) -> bool:
        """Whether there is something: for who polls on more than this queue (`watches`)."""
        return self._finder.over()

    def watches(self) -> list[tuple[int, int]]:
        """The words of memory on which `poll` spins, each (virtual address, value it has now). What `done` finds moves
        them.
        """
        self.check("polling")
        return self._finder.watches()

    async def wait(self, timeout_us: float | None = None) -> tuple[Vi, bool]:
        """VipCQWait: sleep until there is something. Raises VipError: TIMEOUT."""
        time_limit(timeout_us, endless=True)
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
        """VipCQNotify: call `handler(vi, is_receive)` in a thread of its own at the next completion. VipError."""
        self.check("waiting at")
        handler_of(handler)

        async def thread() -> None:
            """Sleep, then call."""
            called = handler(*await self.wait())
            if called is not None:
                await called

        self._nic.process.spawn(thread(), f"notify of completion queue {self.number}")

    async def destroy(self) -> None:
        """VipDestroyCQ. Raises VipError while a VI uses it."""
        self.check("destroying")
        if self.users:
            raise VipError(Result.ERROR_RESOURCE, "destroying a completion queue in use", "destroy its VIs first")
        self.destroyed = True  # at once: nobody begins to use it meanwhile
        async with self._resizing:
            await self._forget()
            self._finder.release()

    async def _forget(self) -> None:
        """The rest of VipDestroyCQ."""
        nic = self._nic
        nic.queues -= 1
        nic.agent.sleepers.wake()
        await nic.process.syscall()
        await nic.process.spend("destroy_queue")
        await nic.agent.queues.free(self.number)

    async def resize(self, entries: int) -> None:
        """VipResizeCQ: have room for so many completions; none is lost. Raises VipError."""
        async with self._resizing:
            self.check("resizing")
            ring = await _new_ring(self._nic, entries)
            await self._nic.agent.queues.set_ring(self.number, ring.physical, entries)
            self._finder.grow(ring)


async def _new_ring(nic: OpenNic, entries: int) -> EntryRing:
    """The kernel's part of making one. Raises VipError."""
    whole("completions of a queue", entries, 1, MOST_ENTRIES)
    await nic.process.syscall()
    await nic.process.spend("create_queue")
    return EntryRing(nic.process, entries)
