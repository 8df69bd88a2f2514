"""Signals of a process: asynchronous notifications by the kernel.

An unmasked signal is delivered by a thread of the process:

- at once if the thread computes;
- at its next look if it polls;
- at the end of the verb if it uses one;
- out of a wait that can be interrupted.

The thread pays for the delivery (profile: `host.signal_ns`), runs the handler, and continues. A thread without the CPU
waits for it first. While a handler runs its own signal is masked; others nest. A signal posted again before delivery is
delivered once. All threads of a process share one mask (ours).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from typing import Any, Protocol

from pymodels.errors import SanlabError


class Sig(IntEnum):
    """Supported signals, numbered as in Linux on i386."""

    USR1 = 10
    SEGV = 11
    ALRM = 14
    IO = 29


Handler = Callable[[Sig], Coroutine[Any, Any, None]]


class SignalError(SanlabError):
    """Signal that cannot be delivered: on a real host the sender gets an error, or the process is killed."""


class Timer(Protocol):
    """Clock with callbacks."""

    now: int

    def at(self, time_ps: int, call: Callable[[], None], /) -> None:
        """Call a function at a time."""


class Signals:
    """Handlers, mask and pending signals of one process."""

    def __init__(
        self, who: str, kernel: Timer, overhead: Callable[[str], Coroutine[Any, Any, None]], tell: Callable[[], None]
    ) -> None:
        """Create a process without handlers.

        Args:
            who: Name of the process for errors.
            kernel: Clock of the timer.
            overhead: Coroutine function that charges a delivery.
            tell: Function called when a signal needs only a thread for its delivery.
        """
        self._tell = tell
        self._who = who
        self._kernel = kernel
        self._overhead = overhead
        self._mask: frozenset[Sig] = frozenset()
        self._running: list[frozenset[Sig]] = []
        """Signals masked by each running handler."""
        self._pending: set[Sig] = set()
        self._open: list[Callable[[], None]] = []
        """Functions that end the waits that a signal interrupts, that of a computing thread first."""
        self._timer = 0
        self.handlers: dict[Sig, tuple[Handler, frozenset[Sig]]] = {}
        self.due = False
        """True if a signal needs only a thread for its delivery."""
        self.delivered = 0
        """Number of handlers started so far."""

    @property
    def mask(self) -> frozenset[Sig]:
        """Signals that wait until unmasked, except for those masked by running handlers."""
        return self._mask

    @mask.setter
    def mask(self, masked: Collection[Sig]) -> None:
        self._mask = frozenset(masked)
        self._look()

    def post(self, sig: Sig) -> None:
        """Post a signal to the process. Raises SignalError if it has no handler."""
        if sig not in self.handlers:
            cause, remedy = "it has no handler, so it would be killed", "call on_signal before one can come"
            raise SignalError(f"{self._who}: signal {sig.name}", cause, remedy)
        self._pending.add(sig)
        self._look()
        if self.due and self._open:
            self._open[0]()

    def _look(self) -> None:
        self.due = self._next() is not None
        if self.due:
            self._tell()

    def _next(self) -> Sig | None:
        """Return the lowest pending unmasked signal."""
        masked = self._mask.union(*self._running)
        return min((sig for sig in self._pending if sig not in masked), default=None)

    async def deliver(self) -> bool:
        """Run the handlers of all deliverable signals. Return True if there was one."""
        came = False
        while (sig := self._next()) is not None:
            handler, more = self.handlers[sig]
            self._pending.discard(sig)
            self.delivered += 1
            came = True
            with self.masking(more | {sig}):
                await self._overhead("signal")
                await handler(sig)
        return came

    @contextmanager
    def masking(self, masked: frozenset[Sig]) -> Iterator[None]:
        """Mask signals while a handler runs."""
        self._running.append(masked)
        self._look()
        try:
            yield
        finally:
            self._running.remove(masked)
            self._look()

    @contextmanager
    def interrupting(self, end: Callable[[], None], *, first: bool = False) -> Iterator[None]:
        """Call `end()` when a signal arrives; with `first` before the functions of other threads."""
        self._open.insert(0 if first else len(self._open), end)
        try:
            yield
        finally:
            self._open.remove(end)

    def set_timer(self, first_ps: int, period_ps: int) -> None:
        """Send ALRM after `first_ps`, then every `period_ps` unless 0, replacing an earlier timer; 0, 0 stops it."""
        self._timer += 1
        if first_ps:
            self._arm(self._timer, self._kernel.now + first_ps, period_ps)

    def _arm(self, timer: int, at: int, period_ps: int) -> None:
        self._kernel.at(at, partial(self._expired, timer, at, period_ps))

    def _expired(self, timer: int, at: int, period_ps: int) -> None:
        if timer != self._timer:
            return
        if period_ps:
            self._arm(timer, at + period_ps, period_ps)
        self.post(Sig.ALRM)
