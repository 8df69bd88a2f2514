"""Waits for a word of the kernel, during which the firmware only lets the packet port finish its stores."""

from __future__ import annotations

from functools import cached_property

from firmware.common.nic import Service
from firmware.verbs import PollLoop, Watch
from firmware.via.nic.ni import Ni


class KernelWait:
    """Word written by the kernel that the firmware waits for."""

    def __init__(self, ni: Ni, look: Watch) -> None:
        """Create the wait; `look` is the watch of the word, with the cost of a sample."""
        self._nic, self._port, self._look = ni.nic, ni.port, look

    @cached_property
    def _meanwhile(self) -> list[Service]:
        return self._port.background()

    @cached_property
    def _loop(self) -> PollLoop:
        return self._nic.poll_loop([self._look, *(watch for watch, _ in self._meanwhile)])

    @property
    def now(self) -> int:
        """Present value of the word."""
        return self._nic.load(self._look.address)

    async def change(self, seen: int) -> None:
        """Spin until the word differs from `seen`."""
        self._loop.expect(0, seen)
        while hit := await self._loop.run():
            await self._meanwhile[hit - 1][1]()
