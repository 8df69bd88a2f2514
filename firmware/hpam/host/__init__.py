"""Host library of HPAM: Active Messages on a FIFO card that is mapped into each process (paper 002)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from firmware.common.host.code_image import CodeImage
from firmware.common.host.request_reply import Handler
from firmware.hpam.host.daemon import Daemon
from firmware.hpam.host.errors import HpamError
from firmware.hpam.host.message import SLOTS
from firmware.hpam.host.port import Call, Port
from firmware.hpam.options import Options
from firmware.options import OptionError
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.host.process import Process
from pymodels.nics.fifo.kind import FifoMap
from pymodels.nics.fifo.registers import Size

__all__ = ["Call", "Handler", "Hpam", "HpamError", "OptionError", "Port", "check_options"]

NODES = 1 + (Size.BUFFERS - 1) // (4 * SLOTS)
"""Largest number of nodes; send buffers and pool share the card's memory."""


class Hpam:
    """HPAM of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.daemon = host, view.me, Daemon(host, view)
        self._routes = view.routes

    async def start(self) -> None:
        """Start the daemon, which initialises the card. Call once a host, before `open`."""
        await self.daemon.start()

    async def open(self, handlers: Iterable[Handler], key: int = 1, process: Process | None = None) -> Port:
        """Map the card into a process.

        Args:
            handlers: all handlers of the program, in the same order in all its processes.
            key: 32-bit key of the program.
            process: the process; None creates a new one.

        Raises:
            HpamError: an invalid key, or one in use by another process of the host.
            ImageError: a handler is given twice.
        """
        if key not in range(1 << 32):
            raise HpamError(f"key {key!r}", "not a 32-bit word", "give 0 to 0xFFFFFFFF")
        owner = self.daemon.holder(key)
        if owner is not None:
            cause = f"{owner.process.who} has opened the card with it"
            raise HpamError(f"key {key:#x}", cause, "use another key")
        image: CodeImage[Handler] = CodeImage(handlers)
        process = process or self.host.process()
        port = Port(self.daemon, process, self.me, self._routes, key, image)
        self.daemon.join(port)
        await process.syscall()
        return port


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check options, card and number of nodes. Raises OptionError."""
    Options.from_values(options)
    if not isinstance(card, FifoMap):
        raise OptionError("layer hpam", "it drives a FIFO card, and the profile has another NIC", "use PROFILE=fifo")
    if nodes > NODES:
        cause = f"the memory of a FIFO card has room for {NODES}"
        raise OptionError(f"{nodes} nodes", cause, f"set NUM_NODES to at most {NODES}")
