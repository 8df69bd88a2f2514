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
    """TreadMarks of one host, which has one process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView, below: Udp | Via) -> None:
        """Create the layer; `below` is UDP or VIA of the host. Raises OptionError for more processes than hosts."""
        self.host, self._me, self._below, self._options = host, view.me, below, Options.from_values(view.options)
        self._nodes = self._options.processes or len(view.names)
        if self._nodes > len(view.names):
            what = f"option processes: {self._nodes}"
            raise OptionError(
                what, f"the cluster has {len(view.names)} hosts", "use a larger cluster, or fewer processes"
            )
        self._opened = False

    @property
    def takes_part(self) -> bool:
        """True if the program has a process on this host."""
        return self._me < self._nodes

    async def start(self) -> None:
        """Start the layer below."""
        await self._below.start()

    def open(self) -> Tmk:
        """Return the program's process, in a new process of the host. Raises TmkError if it is open or not part of the
        program.
        """
        what = f"{self.host.who}: TreadMarks"
        if self._opened:
            raise TmkError(what, "it is already open", "open it once per host")
        if not self.takes_part:
            raise TmkError(what, f"hosts 0 to {self._nodes - 1} take part", "open it there, or increase tmk.processes")
        self._opened = True
        process = self.host.process("tmk")
        if isinstance(self._below, Udp):
            return Tmk(OverUdp(self._below, process, self._nodes, self._options.resend_us), self._options)
        return Tmk(OverVia(self._below, process, self._nodes, self._options), self._options)
