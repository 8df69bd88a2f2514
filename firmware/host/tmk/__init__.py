"""TreadMarks: shared memory of processes on several hosts (paper 001, chapter 5), over UDP. It has no NIC side."""

from __future__ import annotations

from firmware.host.tmk.errors import TmkError
from firmware.host.tmk.library import Tmk
from firmware.host.tmk.options import Options
from firmware.host.tmk.over_udp import OverUdp
from firmware.host.udp import Udp
from firmware.layers import ClusterView
from firmware.verbs import Host

__all__ = ["Tmk", "TmkError", "TreadMarks", "open_layer"]

STANDS_ON = ("udp",)


class TreadMarks:
    """Of one host, which has one process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView, below: Udp) -> None:
        """`below`: UDP of the host."""
        self.host, self._below, self._options = host, below, Options.of(view.options)
        self._opened = False

    async def start(self) -> None:
        """Start what is below."""
        await self._below.start()

    def open(self) -> Tmk:
        """The program begins, in a new process of the host. Raises TmkError when it has one."""
        if self._opened:
            raise TmkError(f"{self.host.who}: TreadMarks", "the program of this host has it open", "open it once")
        self._opened = True
        return Tmk(OverUdp(self._below, self.host.process("tmk")), self._options)


open_layer = TreadMarks
