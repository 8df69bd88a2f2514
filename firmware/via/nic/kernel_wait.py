"""A word of the kernel that the firmware waits for; meanwhile it only lets the packet port finish its stores."""

from __future__ import annotations

from functools import cached_property

from firmware.common.nic import Service
from firmware.verbs import PollLoop, Watch
from firmware.via.nic.ni import Ni


class KernelWait:
    """One word."""

    def __init__(self, ni: Ni, look: Watch) -> None:
        """`look`: the word, and what a look at it costs."""
        self._nic, self._port, self._look = ni.nic, ni.port, look

    @cached_property
    def _meanwhile(self) -> list[Service]:
        return self._port.background()

    @cached_property
    def _loop(self) -> PollLoop:
        return self._nic.poll_loop([self._look, *(watch for watch, _ in self._meanwhile)])

    @property
    def now(self) -> int:
        """What stands there."""
        return self._nic.load(self._look.address)

    async def change(self, seen: int) -> None:
        """Spin until something else stands there."""
        self._loop.expect(0, seen)
        while hit := await self._loop.run():
            await self._meanwhile[hit - 1][1]()
