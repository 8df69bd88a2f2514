"""Interrupt line of a host, level sensitive like PCI's INTA#: common rule for both bindings of the host's verbs.

While the line is held and no interrupt routine runs, the host takes the interrupt: the interrupt latency passes, then
the interrupt routine runs. The line must be held throughout the latency. A line that falls earlier is not served, and
the latency begins anew when it rises again. While the routine runs, the line is masked. If the line is held when the
routine returns, the host takes the interrupt again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from pymodels.kernel import Kernel

Routine = Callable[[], Coroutine[Any, Any, None]]


class InterruptLine:
    """Interrupt line of one host and the interrupt routine of its driver."""

    def __init__(
        self,
        kernel: Kernel,
        spawn: Callable[[Coroutine[Any, Any, None], str], object],
        draw: Callable[[], int],
    ) -> None:
        """Begin with a released line and no interrupt routine.

        Args:
            kernel: The loop that owns time.
            spawn: Starts a task of this host from a coroutine and a name.
            draw: Returns the latency of the next served interrupt, in ps.
        """
        self.held = False
        """Level of the line."""
        self._kernel = kernel
        self._spawn = spawn
        self._draw = draw
        self._routine: Routine | None = None
        self._masked = False
        """True while a task waits out the latency or runs the routine."""
        self._steady = False
        """True if the line has not fallen since the latency began."""
        self._risen = 0
        """Time of the last rise, in ps."""
        self._latency: int | None = None
        """Drawn latency, kept until an interrupt is served with it; an interrupt released early consumes none."""

    def change(self, held: bool) -> None:
        """Set the level of the line: of several cards, True while any of them asserts it."""
        if held == self.held:
            return
        self.held = held
        if held:
            self._risen = self._kernel.now
            self._take()
        else:
            self._steady = False

    def serve_by(self, routine: Routine) -> None:
        """Register the interrupt routine in place of an earlier one; a line that is held is served now."""
        self._routine = routine
        self._take()

    def _take(self) -> None:
        if self.held and self._routine is not None and not self._masked:
            self._masked = True
            self._spawn(self._serve(), "interrupt")

    async def _serve(self) -> None:
        """Serve the line until it is released."""
        begun = self._kernel.now
        while self.held:
            if self._latency is None:
                self._latency = self._draw()
            self._steady = True
            await self._kernel.sleep(begun + self._latency - self._kernel.now, "interrupt latency")
            if self._steady:
                self._latency = None
                assert self._routine is not None
                await self._routine()
                begun = self._kernel.now
            else:
                begun = self._risen
        self._masked = False
