"""Where things stand in the NIC's memory and in the host's. Both sides read this file."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.nic.epos.options import Options
from firmware.nic.epos.pointcuts import PROTOCOLS, identity
from firmware.nic.epos.words import BASE, BELLS, ROUTE, SYNDROME, Word
from pymodels.registers import Block, Size


class Place:
    """What the composition and the sizes of the repository make of both memories."""

    def __init__(self, options: Options, nodes: int) -> None:
        self.options, self.nodes = options, nodes
        chosen = options.composition
        self.identity = identity(chosen)
        self.words: dict[str, int] = {}
        """Of a selected protocol: its word in the header."""
        self.header = BASE
        self.peer: dict[str, int] = {}
        """Of a selected protocol: its words for node 0 in the NIC's memory."""
        for one in PROTOCOLS:
            if one.name in chosen and one.header:
                self.words[one.name] = self.header
                self.header += one.header
        self.header_bytes = 4 * self.header
        self.frame_bytes = self.header_bytes + options.mtu
        least = options.least_mtu if "mtu" in chosen else options.mtu
        self.frames = options.slot_bytes // least
        """Frames of the longest message."""
        self.pages = options.slot_bytes // options.mtu
        """Of a posted buffer."""
        self.limit = options.slots if options.staging == "hold" else 8 * options.slots
        """Messages of a node that the host has not copied out, and for which the Rx FIFO Queue has room."""
        self.staging_bytes = options.slot_bytes * options.slots * nodes
        self.marks = self.staging_bytes
        """In host memory behind the staging buffers: which message stands in each slot."""
        self.host_bytes = self.staging_bytes + 4 * options.slots * nodes
        self._lay_out(options, nodes)

    def _lay_out(self, options: Options, nodes: int) -> None:
        """The NIC's memory."""
        chosen = options.composition
        self._parts: list[tuple[str, int, int]] = []
        self._end = int(Word.FREED)
        self._take("freed counts", 4 * nodes)
        for one in PROTOCOLS:
            if one.name in chosen and one.peer:
                words = one.peer + (self.pages if one.pages else 0)
                self.peer[one.name] = self._take(f"words of {one.name}", 4 * words * nodes)
        self.routes = self._take("routes", 16 * nodes)
        if options.notify == "doorbell":
            self.bells = self._take("Tx FIFO Queue", Size.DOORBELL_FIFO, Size.DOORBELL_FIFO)
        else:
            self.bells = self._take("Tx FIFO Queue", 4 * BELLS)
        self.entries = 1 << (nodes * self.limit * self.frames - 1).bit_length()
        self.fifo = self._take("Rx FIFO Queue", 4 * self.entries if options.rx_fifo == "nic" else 0)
        self.tx_blocks = self._take("Tx DMA Requests", Block.SIZE * options.send_frames)
        self.rx_count = 2 * options.receive_frames + 2
        self.rx_blocks = self._take("Rx DMA Requests", (Block.SIZE + 8) * self.rx_count)
        self.rx_words = self.rx_blocks + Block.SIZE * self.rx_count
        self.send_bytes = ROUTE + self.frame_bytes + 7 & -8
        self.send = self._take("Send Ring", self.send_bytes * options.send_frames)
        self.control = self._take(
            "control frame", 32 if any(one.name in chosen and one.controls for one in PROTOCOLS) else 0
        )
        self.receive_bytes = (self.frame_bytes + 7 & -8) + SYNDROME
        self.receive = self._take("Receive Ring", self.receive_bytes * options.receive_frames)
        self.end = self._end

    def _take(self, name: str, size: int, align: int = 8) -> int:
        """Room for something; what is not there takes none."""
        if not size:
            return 0
        at = self._end + align - 1 & -align
        self._parts.append((name, at, size))
        self._end = at + size
        return at

    @property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """The memory map: by name the address and the bytes."""
        return {name: (at, size) for name, at, size in self._parts}

    def slot(self, index: int) -> int:
        """Address of a frame of the Send Ring; its route stands before it."""
        return self.send + self.send_bytes * index + ROUTE

    def buffer(self, index: int) -> int:
        """Address of a frame of the Receive Ring."""
        return self.receive + self.receive_bytes * index

    def staging(self, source: int, message: int) -> int:
        """Offset of the staging slot of a node's message."""
        return self.options.slot_bytes * (source * self.options.slots + message % self.options.slots)

    def mark(self, source: int, message: int) -> int:
        """Offset of the word that says which message stands there."""
        return self.marks + 4 * (source * self.options.slots + message % self.options.slots)

    @staticmethod
    def bit(protocol: str) -> int:
        """Of a protocol, in the number of a composition."""
        return identity([protocol])

    def of(self, protocol: str, node: int, words: int) -> int:
        """Address of a protocol's words for a node, of which it has so many."""
        return self.peer[protocol] + 4 * words * node
