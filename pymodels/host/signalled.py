"""Verbs of a process for signals: handlers, masks, sending, and waits that signals interrupt."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Coroutine
from functools import partial
from typing import Any, TypeVar

from pymodels.host.owner import Owner, Signal
from pymodels.host.scheduler import Scheduler
from pymodels.host.signals import Handler, Sig, SignalError, Signals

T = TypeVar("T")


class Signalled:
    """Mixin of `Process` with verbs for signals."""

    who: str
    number: int
    host: Owner
    signals: Signals
    _scheduler: Scheduler
    _views: list[Any]
    """Views of memory returned since the process last waited."""

    def _expire(self, call: str) -> None:
        """Raise ViewError if a view is still in use after the process has waited in a call."""

    async def syscall(self) -> None:
        """Charge the CPU with a system call."""
        await self._scheduler.enter()
        await self.host.syscall()
        if self._scheduler.leave():
            await self._after("syscall")

    async def in_kernel(self, work: Coroutine[Any, Any, T], entered: bool = False) -> T:
        """Enter the kernel, unless the thread has slept there, and execute `work` with verbs of the host.

        The kernel is not preempted: no other thread runs meanwhile, and signals wait for the return.
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
        """Request a call of `_after` at the end of the next verb."""
        self._scheduler.signalled.add(self.number)
        self._scheduler.disturbed()

    async def _after(self, call: str) -> None:
        """Finish a verb: expire views, and run the handlers of signals that arrived meanwhile."""
        self._scheduler.signalled.discard(self.number)
        if self._views:
            self._expire(call)
        await self.signals.deliver()

    def on_signal(self, sig: Sig, handler: Handler, mask: Collection[Sig] = ()) -> None:
        """Register `handler(sig)` for a signal.

        Args:
            sig: The signal.
            handler: Coroutine function that runs for each delivery.
            mask: Signals that wait while the handler runs, in addition to the signal itself.
        """
        self.signals.handlers[sig] = handler, frozenset(mask)

    async def set_mask(self, masked: Collection[Sig]) -> frozenset[Sig]:
        """Mask exactly these signals by a system call, run the handlers of unmasked pending ones, and return the old
        mask.
        """
        before = self.signals.mask
        await self.syscall()
        self.signals.mask = frozenset(masked)
        if self.signals.due:
            await self.signals.deliver()
        return before

    async def suspend(self, masked: Collection[Sig] = ()) -> None:
        """Mask exactly these signals by a system call, sleep until a handler has run, and restore the mask.

        No signal is lost in between: a pending signal ends the call at once.
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
        """Send a signal to a process of this host by a system call. Raises SignalError for an unknown process."""
        await self.syscall()
        self.host.signal(number, sig, f"{self.who}: kill({number}, {sig.name})")

    async def set_timer(self, first_ns: int, period_ns: int = 0) -> None:
        """Set a timer for ALRM by a system call.

        Args:
            first_ns: Time to the first signal; 0 stops the timer.
            period_ns: Period of further signals; 0 for none.

        Raises:
            SignalError: A time is negative.
        """
        if first_ns < 0 or period_ns < 0:
            cause, remedy = "a timer cannot expire before now", "give ns from 0 on; 0 stops it"
            raise SignalError(f"{self.who}: set_timer({first_ns}, {period_ns})", cause, remedy)
        await self.syscall()
        self.signals.set_timer(first_ns * 1000, period_ns * 1000)

    async def _woken(self, signal: Signal | None) -> bool:
        """Wait for a condition or a signal. Return True if the condition is set, False if a signal came first."""
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
