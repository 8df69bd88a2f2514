"""Host library of AM: Active Messages, whose headers hold the address of their handler (paper 002)."""

from __future__ import annotations

from collections.abc import Iterable

from firmware.am.host.errors import AmError
from firmware.am.host.port import Call, Port
from firmware.am.host.remote import get_handler, put_handler
from firmware.am.nic.layout import PORT, Place, Word
from firmware.common.host.card import load_chain, release
from firmware.common.host.code_image import CodeImage
from firmware.common.host.payload import MemoryRange
from firmware.common.host.request_reply import Handler
from firmware.common.host.words import store_words
from firmware.common.nic import chain_heads
from firmware.verbs import Host
from firmware.view import ClusterView

__all__ = ["Am", "AmError", "Call", "Handler", "MemoryRange", "Port"]


class Am:
    """AM driver of one host, for a single process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self._view = host, view.me, view
        self._memory = host.allocate(Place(len(view.names)).bytes)
        self._port: Port | None = None

    async def start(self) -> None:
        """Pass the address of the host buffers to the NIC. Call once, before `open`."""
        await release(self.host)
        for chain, block in chain_heads(PORT, len(self._view.names)).items():
            await load_chain(self.host, chain, block)
        await store_words(self.host, Word.MEMORY, self._memory.address)

    def open(self, handlers: Iterable[Handler]) -> Port:
        """Open the port of the program's process on this host.

        Args:
            handlers: all handlers of the program, in the same order on every node.

        Raises:
            AmError: the port is already open.
            ImageError: a handler is given twice.
        """
        if self._port is not None:
            raise AmError(f"{self.host.who}: AM", "its port is already open", "open it once per host")
        image: CodeImage[Handler] = CodeImage([put_handler, get_handler, *handlers])
        self._port = Port(self.host, self._view, self._memory, image)
        return self._port
