"""TreadMarks: shared memory of processes on several hosts (paper 001, chapter 5), over UDP or VIA."""

from __future__ import annotations

from firmware.options import OptionError
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.library import Tmk
from firmware.tmk.host.over_udp import OverUdp
from firmware.tmk.host.over_via import OverVia
from firmware.tmk.host.shared import Shared
from firmware.tmk.options import Options
from firmware.udp.host import Udp
from firmware.verbs import Host
from firmware.via.host import Via
from firmware.view import ClusterView

__all__ = ["Shared", "Tmk", "TmkError", "TreadMarks"]


class TreadMarks:
    """Of one host, which has one process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView, below: Udp | Via) -> None:
        """`below`: UDP or VIA of the host. Raises OptionError."""
        self.host, self._me, self._below, self._options = host, view.me, below, Options.of(view.options)
        self._nodes = self._options.processes or len(view.names)
        if self._nodes > len(view.names):
            what = f"option processes: {self._nodes}"
            raise OptionError(what, f"there are {len(view.names)} hosts", "take a larger cluster, or fewer processes")
        self._opened = False

    @property
    def takes_part(self) -> bool:
        """Whether the program has a process here."""
        return self._me < self._nodes

    async def start(self) -> None:
        """Start what is below."""
        await self._below.start()

    def open(self) -> Tmk:
        """The program begins, in a new process of the host. Raises TmkError when it has one, or takes no part."""
        what = f"{self.host.who}: TreadMarks"
        if self._opened:
            raise TmkError(what, "the program of this host has it open", "open it once")
        if not self.takes_part:
            raise TmkError(what, f"hosts 0 to {self._nodes - 1} take part", "open it there, or raise tmk.processes")
        self._opened = True
        process = self.host.process("tmk")
        if isinstance(self._below, Udp):
            return Tmk(OverUdp(self._below, process, self._nodes, self._options.resend_us), self._options)
        return Tmk(OverVia(self._below, process, self._nodes, self._options), self._options)
