"""Memory map of the NIC and of the host, used by both sides."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.epos.nic.pointcuts import PROTOCOLS, identity
from firmware.epos.nic.words import BASE, BELLS, ROUTE, SYNDROME, Word
from firmware.epos.options import Options
from pymodels.registers import Block, Size

PAGE = 4096
"""Page size: processes get NIC memory in whole pages."""
OWNER = 16
"""Bytes of the driver's record of a process."""


class Place:
    """Memory map of both sides for a composition and its sizes."""

    def __init__(self, options: Options, nodes: int, process: int = 0) -> None:
        """Compute the map as a process of a host sees it. The NIC uses the map of process 0 and adds `stride` for
        others.
        """
        self.options, self.nodes = options, nodes
        chosen = options.composition
        self.processes = options.sharers
        self.peers = nodes * self.processes
        """Number of senders and receivers: all processes of all nodes, or without protection the nodes.

        Each pair of a local process and a peer has a row of words; its number is process x peers + peer.
        """
        self.identity = identity(chosen)
        self.words: dict[str, int] = {}
        """Header word of each selected protocol."""
        self.header = BASE
        self.peer: dict[str, int] = {}
        """NIC address of each selected protocol's words for peer 0."""
        for one in PROTOCOLS:
            if one.name in chosen and one.header:
                self.words[one.name] = self.header
                self.header += one.header
        self.header_bytes = 4 * self.header
        self.frame_bytes = self.header_bytes + options.mtu
        least = options.least_mtu if "mtu" in chosen else options.mtu
        self.frames = options.slot_bytes // least
        """Maximum number of frames of a message."""
        self.pages = options.slot_bytes // options.mtu
        """Number of pages of a posted buffer."""
        self.limit = options.slots if options.staging == "hold" else 8 * options.slots
        """Maximum number of uncopied messages of a peer, for which the Rx FIFO Queue has room."""
        self.staging_bytes = options.slot_bytes * options.slots * self.peers
        self.marks = self.staging_bytes
        """Offset in host memory of the words that name the message in each slot, behind the staging buffers."""
        self.host_bytes = self.staging_bytes + 4 * options.slots * self.peers
        self.entries = 1 << (self.peers * self.limit * self.frames - 1).bit_length()
        self.send_bytes = ROUTE + self.frame_bytes + 7 & -8
        self.receive_bytes = (self.frame_bytes + 7 & -8) + SYNDROME
        self.rx_count = 2 * options.receive_frames + 2
        self._parts: list[tuple[str, int, int]] = []
        self._end, self.stride = int(Word.FREED), 0
        self.sent, self.owners = int(Word.SENT), 0
        if "protection" in chosen:
            self._lay_out_apart(process)
        else:
            self._lay_out()

    def _lay_out(self) -> None:
        """Lay out the NIC's memory for a single process."""
        options = self.options
        self._take_words()
        self._take_bells()
        self.fifo = self._take("Rx FIFO Queue", 4 * self.entries if options.rx_fifo == "nic" else 0)
        self.requests = self.tx_blocks = self._take("Tx DMA Requests", Block.SIZE * options.send_frames)
        self.tx_count = options.send_frames
        self._take_blocks()
        self.send = self._take("Send Ring", self.send_bytes * options.send_frames)
        self._take_frames()
        self.end = self._end

    def _lay_out_apart(self, process: int) -> None:
        """Lay out the NIC's memory for several processes: first the areas of NIC and driver, then the pages of each
        process.
        """
        options = self.options
        self.owners = self._take("owners", OWNER * self.processes)
        self._take_bells()
        self.tx_count = options.send_frames * self.processes + 1
        self.tx_blocks = self._take("chain of the Tx DMA", Block.SIZE * self.tx_count)
        self._take_blocks()
        self.head = self._take("header that leaves", ROUTE + self.header_bytes + 8) + ROUTE
        self._take_frames()
        begin = self._end = self._end + PAGE - 1 & -PAGE
        self._end += Word.FREED
        self._take_words()
        self.fifo = self._take("Rx FIFO Queue", 4 * self.entries if options.rx_fifo == "nic" else 0)
        self.requests = self._take("Tx DMA Requests", Block.SIZE * options.send_frames)
        self.send = self._take("Send Ring", self.send_bytes * options.send_frames)
        self.stride = (self._end + PAGE - 1 & -PAGE) - begin
        for other in range(1, self.processes):
            self._parts.append((f"pages of process {other}", begin + self.stride * other, self.stride))
        self.end = begin + self.stride * self.processes
        shift = self.stride * process
        self.sent = begin + Word.SENT + shift
        self.peer = {name: at + shift for name, at in self.peer.items()}
        self._freed += shift
        self.fifo, self.requests, self.send = self.fifo + shift, self.requests + shift, self.send + shift

    def _take_words(self) -> None:
        """Reserve the words for each peer: those of the baseline, and of each selected protocol."""
        self._freed = self._take("freed counts", 4 * self.peers)
        for one in PROTOCOLS:
            if one.name in self.options.composition and one.peer:
                words = one.peer + (self.pages if one.pages else 0)
                self.peer[one.name] = self._take(f"words of {one.name}", 4 * words * self.peers)

    def _take_bells(self) -> None:
        """Reserve the routes and the Tx FIFO Queue."""
        self.routes = self._take("routes", 16 * self.nodes)
        if self.options.notify == "doorbell":
            self.bells = self._take("Tx FIFO Queue", Size.DOORBELL_FIFO, Size.DOORBELL_FIFO)
        else:
            self.bells = self._take("Tx FIFO Queue", 4 * BELLS)

    def _take_blocks(self) -> None:
        """Reserve the DMA chain of the receiving side."""
        self.rx_blocks = self._take("Rx DMA Requests", (Block.SIZE + 8) * self.rx_count)
        self.rx_words = self.rx_blocks + Block.SIZE * self.rx_count

    def _take_frames(self) -> None:
        """Reserve the Receive Ring and the control frame."""
        controls = any(one.controls for one in PROTOCOLS if one.name in self.options.composition)
        self.control = self._take("control frame", 32 if controls else 0)
        self.receive = self._take("Receive Ring", self.receive_bytes * self.options.receive_frames)

    def _take(self, name: str, size: int, align: int = 8) -> int:
        """Reserve an area and return its address; an area of size 0 is omitted."""
        if not size:
            return 0
        at = self._end + align - 1 & -align
        self._parts.append((name, at, size))
        self._end = at + size
        return at

    @property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """Memory map: address and bytes of each area, by name."""
        return {name: (at, size) for name, at, size in self._parts}

    def slot(self, index: int, process: int = 0) -> int:
        """Return the address of a frame in the Send Ring; the room for its route is before it."""
        return self.send + self.stride * process + self.send_bytes * index + ROUTE

    def buffer(self, index: int) -> int:
        """Return the address of a frame in the Receive Ring."""
        return self.receive + self.receive_bytes * index

    def staging(self, source: int, message: int) -> int:
        """Return the offset of the staging slot of a peer's message."""
        return self.options.slot_bytes * (source * self.options.slots + message % self.options.slots)

    def mark(self, source: int, message: int) -> int:
        """Return the offset of the word that names the message in its staging slot."""
        return self.marks + 4 * (source * self.options.slots + message % self.options.slots)

    def owner(self, process: int) -> tuple[int, int, int]:
        """Return the addresses of the driver's words about a process.

        The words are the addresses of its staging buffers and of its queue in host memory. With protection, they
        include address and bytes of its pinned memory.
        """
        at = self.owners + OWNER * process
        return (at, at + 4, at + 8) if self.owners else (int(Word.STAGING), int(Word.MIRROR), 0)

    def freed(self, row: int) -> int:
        """Return the address of a row's count of copied messages."""
        return self._freed + self.stride * (row // self.peers) + 4 * (row % self.peers)

    def node(self, row: int) -> int:
        """Return the node of a row's peer."""
        return row % self.peers // self.processes

    @staticmethod
    def bit(protocol: str) -> int:
        """Return the bit of a protocol in the number of a composition."""
        return identity([protocol])

    def peer_address(self, protocol: str, row: int, words: int) -> int:
        """Return the address of a protocol's words for a row; `words` is their number."""
        return self.peer[protocol] + self.stride * (row // self.peers) + 4 * words * (row % self.peers)
