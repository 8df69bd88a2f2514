"""Host library of SSAM: Active Messages through the kernel, on a FIFO card with cells (paper 002)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from firmware.common.host.code_image import CodeImage
from firmware.common.host.request_reply import Handler
from firmware.options import OptionError
from firmware.ssam.host.errors import SsamError
from firmware.ssam.host.kernel import SsamKernel
from firmware.ssam.host.port import Call, Port
from firmware.ssam.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.host.process import Process
from pymodels.nics.fifo.kind import FifoMap
from pymodels.nics.fifo.registers import Size

__all__ = ["Call", "Handler", "OptionError", "Port", "Ssam", "SsamError", "check_options"]


class Ssam:
    """SSAM of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.kernel = host, view.me, SsamKernel(host, view)
        self._requests = Options.from_values(view.options).requests

    async def start(self) -> None:
        """Start the driver. Call once a host, before `open`."""
        await self.kernel.start()

    async def open(self, handlers: Iterable[Handler], key: int = 1, process: Process | None = None) -> Port:
        """Open the device for a process.

        Args:
            handlers: all handlers of the program, in the same order in all its processes.
            key: 32-bit key of the program.
            process: the process; None creates a new one.

        Raises:
            SsamError: an invalid key, or one in use by another process of the host.
            ImageError: a handler is given twice.
        """
        if key not in range(1 << 32):
            raise SsamError(f"key {key!r}", "not a 32-bit word", "give 0 to 0xFFFFFFFF")
        image: CodeImage[Handler] = CodeImage(handlers)
        process = process or self.host.process()
        return Port(self.kernel, await self.kernel.open(process, key), image, self._requests)


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check options, card and number of nodes. Raises OptionError."""
    Options.from_values(options)
    if not isinstance(card, FifoMap):
        raise OptionError("layer ssam", "it drives a FIFO card, and the profile has another NIC", "use PROFILE=fifo")
    if nodes > Size.CIRCUITS:
        most = int(Size.CIRCUITS)
        raise OptionError(f"{nodes} nodes", f"a FIFO card has {most} circuits", f"set NUM_NODES to at most {most}")
