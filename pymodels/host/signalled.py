"""A process's verbs for signals: what it does about them, how it sends them, and waits that they interrupt."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Coroutine
from functools import partial
from typing import Any, TypeVar

from pymodels.host.owner import Owner, Signal
from pymodels.host.scheduler import Scheduler
from pymodels.host.signals import Handler, Sig, SignalError, Signals

T = TypeVar("T")


class Signalled:
    """Mixed into `Process`."""

    who: str
    number: int
    host: Owner
    signals: Signals
    _scheduler: Scheduler
    _views: list[Any]
    """Views of memory that were given out since the process last waited."""

    def _expire(self, call: str) -> None:
        """The process has waited in a call: raise ViewError when a view is still used."""

    async def syscall(self) -> None:
        """Enter the kernel and come back."""
        await self._scheduler.enter()
        await self.host.syscall()
        if self._scheduler.leave():
            await self._after("syscall")

    async def in_kernel(self, work: Coroutine[Any, Any, T], entered: bool = False) -> T:
        """Enter the kernel, unless the thread has slept there, and do its `work` in verbs of the host. The kernel of
        the time is not preempted: no other thread runs meanwhile, and signals wait for the return.
        """
        await self._scheduler.enter()
        if not entered:
            await self.host.syscall()
        try:
            return await work
        finally:
            if self._scheduler.leave():
                await self._after("a system call")

    def _tell(self) -> None:
        """There is something to do `_after` the next verb."""
        self._scheduler.told.add(self.number)
        self._scheduler.disturbed()

    async def _after(self, call: str) -> None:
        """A verb has ended: views are no longer good, and the handlers of signals that came meanwhile run."""
        self._scheduler.told.discard(self.number)
        if self._views:
            self._expire(call)
        await self.signals.deliver()

    def on_signal(self, sig: Sig, handler: Handler, mask: Collection[Sig] = ()) -> None:
        """Let `handler(sig)` run when a signal comes; `mask`: what waits until it returns, beside the signal itself."""
        self.signals.handlers[sig] = handler, frozenset(mask)

    async def set_mask(self, masked: Collection[Sig]) -> frozenset[Sig]:
        """By a system call: mask these signals and no others; those masked before. Handlers of what waited run."""
        before = self.signals.mask
        await self.syscall()
        self.signals.mask = frozenset(masked)
        if self.signals.due:
            await self.signals.deliver()
        return before

    async def suspend(self, masked: Collection[Sig] = ()) -> None:
        """By a system call: mask these signals only, sleep until the handler of one has run, and mask what was masked
        before. No signal is lost between: one that is pending ends it at once.
        """
        await self.syscall()
        before, self.signals.mask = self.signals.mask, frozenset(masked)
        while not await self.signals.deliver():
            self._scheduler.sleep()
            await self._woken(None)
            await self._scheduler.enter()
            self._scheduler.leave()
        self.signals.mask = before

    async def kill(self, number: int, sig: Sig) -> None:
        """By a system call: send a signal to a process of this host. Raises SignalError when there is none."""
        await self.syscall()
        self.host.signal(number, sig, f"{self.who}: kill({number}, {sig.name})")

    async def set_timer(self, first_ns: int, period_ns: int = 0) -> None:
        """By a system call: ALRM after a time, then every period unless that is 0. 0 stops it. SignalError for less."""
        if first_ns < 0 or period_ns < 0:
            cause, remedy = "a timer cannot expire before now", "give ns from 0 on; 0 stops it"
            raise SignalError(f"{self.who}: set_timer({first_ns}, {period_ns})", cause, remedy)
        await self.syscall()
        self.signals.set_timer(first_ns * 1000, period_ns * 1000)

    async def _woken(self, signal: Signal | None) -> bool:
        """Whether the condition is set; False: a signal came first."""
        woken = self._scheduler.kernel.future(f"a signal to {self.who}")

        def end(came: bool) -> None:
            if not woken.done:
                woken.set(came)

        async def relay(condition: Awaitable[None]) -> None:
            await condition
            end(True)

        waits = self.host.spawn(relay(signal.wait()), f"{self.who}: wait") if signal else None
        with self.signals.interrupting(partial(end, False)):
            came: bool = await woken
        if waits and not came:
            self._scheduler.kernel.stop(waits)
        return came
