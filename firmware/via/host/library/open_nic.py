"""A NIC that a process has opened: what its VIs and completion queues use of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import Wants
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.sleepers import Told
from firmware.via.host.library.descriptor import Descriptor
from pymodels.host import Sig
from pymodels.host.process import Process


class OpenNic:
    """Of one process."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        self.agent, self.process = agent, process
        self.host, self.options = agent.host, agent.options
        self.tags: set[int] = set()
        """Protection tags of this process."""
        self.queues = 0
        """Completion queues that are not destroyed."""
        self.closed = False

    def check(self, doing: str) -> None:
        """Whether it is open. Raises VipError."""
        if self.closed:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} a NIC that is closed", "open it again")

    def check_tag(self, tag: int) -> None:
        """Whether it is one of this process. Raises VipError."""
        if type(tag) is not int or tag not in self.tags:
            raise VipError(Result.INVALID_PTAG, f"protection tag {tag}", "make one by create_ptag")

    def begun(self, descriptor: Descriptor) -> int:
        """A send is posted: its number on this host, for the trace."""
        ((physical, _),) = self.process.pieces(descriptor.va, 1)
        return self.agent.numbers.posted(physical, descriptor.size)

    async def tell(self, vi: int, side: int, news: Callable[[], bool], sig: Sig | None) -> None:
        """Have the process sent a signal at completions of one side of a VI, while there is something to take."""
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        told = Told(news, partial(self.host.signal, self.process.number, sig, f"VI {vi}")) if sig is not None else None
        await self.agent.sleepers.tell(vi, side, told)

    async def sleep(self, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let the calling thread sleep until something is done; another thread may have taken it then."""
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        await self.agent.sleepers.sleep(self.process, over, wants, timeout_us)
