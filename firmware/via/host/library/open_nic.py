"""Open NIC, as its VIs and completion queues use it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import Wants
from firmware.via.host.kernel_agent.agent import KernelAgent
from firmware.via.host.kernel_agent.sleepers import SignalListener
from firmware.via.host.library.descriptor import Descriptor
from pymodels.host import Sig
from pymodels.host.process import Process


class OpenNic:
    """NIC opened by a process."""

    def __init__(self, agent: KernelAgent, process: Process) -> None:
        self.agent, self.process = agent, process
        self.host, self.options = agent.host, agent.options
        self.tags: set[int] = set()
        """Protection tags of the process."""
        self.queues = 0
        """Number of completion queues that are not destroyed."""
        self.closed = False

    def check(self, doing: str) -> None:
        """Raise VipError if the NIC is closed. `doing` describes the call."""
        if self.closed:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} a closed NIC", "open it again")

    def check_tag(self, tag: int) -> None:
        """Raise VipError unless the tag belongs to this process."""
        if type(tag) is not int or tag not in self.tags:
            raise VipError(Result.INVALID_PTAG, f"protection tag {tag}", "create one by create_ptag")

    def begun(self, descriptor: Descriptor) -> int:
        """Record a posted send, and return its number on this host, for the trace."""
        ((physical, _),) = self.process.pieces(descriptor.va, 1)
        return self.agent.numbers.posted(physical, descriptor.size)

    async def request_signal(self, vi: int, side: int, news: Callable[[], bool], sig: Sig | None) -> None:
        """Register a signal for completions of a work queue, or cancel it with `sig=None`.

        Args:
            vi: Number of the VI.
            side: Work queue, SENT or RECEIVED.
            news: Returns True while a completion has not been taken.
            sig: Signal.
        """
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        listener: SignalListener | None = None
        if sig is not None:
            listener = SignalListener(news, partial(self.host.signal, self.process.number, sig, f"VI {vi}"))
        await self.agent.sleepers.listen(vi, side, listener)

    async def sleep(self, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Block the calling thread until `over()` is true or the time is over. Another thread may take the completion
        first.
        """
        await self.process.syscall()
        await self.process.spend("sleep_in_kernel")
        await self.agent.sleepers.sleep(self.process, over, wants, timeout_us)
