"""Where everything stands: GRIM's map of the NIC's SRAM and of an endpoint's pinned queue. Host and NI compute the
same.

Queues, on both sides, are rings of whole messages that never wrap inside a message: a message begins below `limit`
and may run into the space behind it, which has room for one; the next then begins at 0. Front and back are byte
offsets; equal means empty, so a queue is never completely full.
"""

from __future__ import annotations

from enum import IntEnum

from firmware.grim import formats as grim
from firmware.grim.nic.remote_memory.entries import MAP_BYTES, PAGE, Runtime, Static
from firmware.grim.nic.words import Counter, DriverWord, State, Word
from firmware.grim.options import Options
from firmware.options import OptionError
from pymodels.codes import quick
from pymodels.registers import Block, Size

__all__ = [
    "CONTROL_ENTRY",
    "DRAINS",
    "E2L_CHAIN",
    "L2E_CHAIN",
    "LARGEST_FIFO",
    "NONE",
    "RECEIVE_BUFFERS",
    "REGISTERS",
    "REPORTS",
    "REPORT_BYTES",
    "ROUTE_BYTES",
    "STARTED",
    "STATUS_BYTES",
    "TREE_CHANNELS",
    "TREE_SLOTS",
    "Counter",
    "DriverWord",
    "HostQueue",
    "Layout",
    "Register",
    "State",
    "Tree",
    "Word",
    "fits",
    "following",
]

NONE = -1
"""No such stream, no buffer."""
STATUS_BYTES = 8
"""First bytes of a slot: the state of its message; hybrid: where its payload stands."""
ROUTE_BYTES = 8
"""Room before a message for its route, right-aligned: the send engine skips what is not used (register SA)."""
CONTROL_ENTRY = ROUTE_BYTES + grim.CONTROL_BYTES
E2L_CHAIN = 2
"""The host DMA chain that fetches payloads (option dma_inject)."""
L2E_CHAIN = 0
"""The host DMA chain that brings messages to the host."""
RECEIVE_BUFFERS = 2
DRAINS = 8
"""Messages of incoming queues that may be on their way to the host (option buffering)."""
REPORTS = 16
"""Reports to this NI's host that may be in flight."""
REPORT_BYTES = ROUTE_BYTES + grim.HEADER_BYTES
"""A report to another host, with its route."""
LARGEST_FIFO = 7
"""Greatest size code of a doorbell FIFO: 4 KB << 7."""
START, STATE, FREED, KERNEL = int(Word.START), int(Word.STATE), int(Word.FREED), int(Word.KERNEL)
PROGRAM_END = 0x10000
"""Below stands the program of a NIC that executes one, behind the first words; above, what it is told (`boot`)."""
CONFIGURATION_BYTES = 256
VARIABLES_BYTES = 1024
"""Room for `struct ni` of `ni.h`, which begins with the counters."""
STARTED = 0x4752494D
"""The start word: the host has filled the channel registers in."""


@quick
class Register(IntEnum):
    """The registers of a channel, byte offsets within its record; the writer in brackets."""

    FRONT = 0
    """Oldest message that is not acknowledged [NI]."""
    BACK = 4
    """Where the next message will be put [host]."""
    HOST_FRONT = 8
    """How far the host has emptied the endpoint's queue [host]."""
    HOST_BASE = 12
    """Physical address of the endpoint's queue [host, at enable]."""

    PAYLOAD_FRONT = 16
    """Hybrid queue: the oldest payload that is not acknowledged [NI]."""
    NEXT = 20
    """The first message that the NI has not looked at (paper 000, 4.3.1) [NI]."""


REGISTERS = 32


@quick
class Tree(IntEnum):
    """A multicast tree as a NI sees it: byte offsets within its record, both words written by the host."""

    PLACE = 0
    """VNN of the root (8 bits), of two children (8 each; the own VNN: none), own channels that have subscribed (8)."""
    KNOWN = 4
    """1: this NI has a place in the tree."""
    BYTES = 8


TREE_CHANNELS = 8
"""Channels that can subscribe: 0..7 (readings B11)."""
TREE_NODES = 256
"""Nodes of a cluster with trees: VNNs of 8 bits stand in records of trees and in copies."""
TREE_SLOTS = 4
"""Longest messages that a tree's queue of copies has room for, one as the room behind the ring."""


@quick
class HostQueue(IntEnum):
    """Byte offsets within an endpoint's pinned queue."""

    BACK = 0
    """Where the NI will put the next message [NI, by DMA]."""
    STATUS = 8
    """`State` of the NI [NI, by DMA]."""
    FETCHED = 16
    """Payloads of the endpoint's channel that the NI has fetched [NI, by DMA]."""
    RING = 64
    """The messages."""


def fits(front: int, back: int, size: int, limit: int) -> bool:
    """Whether a message of `size` bytes may be appended at `back`."""
    end = back + size
    return end < front if back < front else end < limit or front != 0


def following(offset: int, size: int, limit: int) -> int:
    """The offset after a message of `size` bytes at `offset`."""
    end = offset + size
    return end if end < limit else 0


class Layout:
    """Addresses in SRAM and sizes of queues for `nodes` nodes with NICs of `sram_bytes`. Raises OptionError when that
    is too small.
    """

    def __init__(self, options: Options, nodes: int, sram_bytes: int, executes: bool = False) -> None:
        """`executes`: the NIC has a program in its SRAM, and the variables of that."""
        if options.sram_bytes > sram_bytes:
            cause = f"{options.sram_bytes}, but the NIC has {sram_bytes}"
            raise OptionError("option sram_bytes", cause, "give what there is")
        self.sram_bytes = options.sram_bytes or sram_bytes
        self.warnings: list[str] = []
        self.payload = grim.padded((options.segment_bytes + 3) // 4)
        self.host_slot = grim.HEADER_BYTES + self.payload
        self.slot = ROUTE_BYTES + self.host_slot
        self.host_limit = options.host_queue_bytes - HostQueue.RING - self.host_slot & ~7
        if self.host_limit < 2 * self.host_slot:
            cause = f"{options.host_queue_bytes} hold no three segments of {options.segment_bytes}"
            raise OptionError("option host_queue_bytes", cause, "make it larger or segment_bytes smaller")
        self.card_queue_bytes = options.card_queue_bytes
        self.executes = executes
        self._at = PROGRAM_END + CONFIGURATION_BYTES if executes else 0x40
        self._streams(options, nodes)
        self._chain(options)
        self.control_entries = 1 << (grim.TOKENS * max(nodes - 1, 1)).bit_length()
        self.control = self._take(CONTROL_ENTRY * self.control_entries)
        self.report = self._take(grim.HEADER_BYTES * REPORTS)
        self.buffer_bytes = self.host_slot + 16
        cut = max(options.cut_through_bytes, 64) if options.cut_through_bytes else 0
        self.cut_through = cut if cut <= self.host_slot else 0
        self.buffers = tuple(self._take(self.buffer_bytes) for _ in range(RECEIVE_BUFFERS))
        self._remote(options)
        self._multicast(options)
        self._private()
        self.fetches_count = 2 * grim.TOKENS if options.dma_inject else 0
        self.fetches = self._take(Block.SIZE * self.fetches_count)
        self.doorbells, self.doorbell_bytes, self.doorbell_code = 0, 0, 0
        if options.doorbell_notify:
            self._doorbell_fifo(options)
        self.card_read = self._take(8)
        """Two words: how far the node's FPGA card has read its rings [card]."""
        self._incoming(options)
        self._queues(options)
        self.end = self._at

    def _take(self, size: int) -> int:
        at = self._at
        self._at = at + size + 63 & ~63
        return at

    def _streams(self, options: Options, nodes: int) -> None:
        """Who sends to whom: tokens, sequence numbers, and what the sequencing and the time-outs keep beside them."""
        per_ni, trees = options.sequencing == "per-ni", options.multicast_trees
        self.sources = options.channels + 1 + trees + 1
        self.targets = options.channels + trees
        """Channels that send: the hosts', the NI's own, one a multicast tree, that of the reports to other hosts; that
        are sent to: the hosts', roots.
        """
        self._own = options.channels
        self.streams = nodes * (self.lane(self.sources - 1) + 1) if per_ni else self.sources * nodes * self.targets
        """Sequences to, and from, all NIs."""
        others = grim.NI_TOKENS + trees * grim.TREE_TOKENS + grim.REPORT_TOKENS
        self.slots = (grim.TOKENS - others) // options.channels
        """Scoreboard entries, and so tokens, of a channel; behind them those of the NI's own, of the trees, and of the
        reports to other hosts.
        """
        self._check_trees(options, nodes)
        self.node_shift = max(nodes - 1, 0).bit_length()
        self.channel_shift = max(self.sources - 1, self.targets - 1).bit_length()
        """Where a program has NI and channel in the number of a stream."""
        if self.executes:
            self.streams = self.sources << self.node_shift << self.channel_shift
        self.counters = self._take(VARIABLES_BYTES if self.executes else 4 * len(Counter))
        self.channels = self._take(REGISTERS * self.sources)
        self.routes = self._take(16 * nodes)
        self.scoreboard = self._take(16 * grim.TOKENS)
        self.outgoing = self._take(4 * self.streams)
        self.incoming = self._take(4 * self.streams)
        self.unanswered = self._take(40 * self.streams if options.timeout_us else 0)
        self.transfers = self._take(8 * nodes * options.channels**2)
        """By NI and both channels, of its requests and of its replies: where the transfer under way goes on, or why it
        failed."""
        self.by_sequence = self._take(grim.TOKENS * self.streams if per_ni else 0)

    def lane(self, source: int) -> int:
        """What of a NI is sequenced together per NI, by source channel: all messages of its host are (0), what it sends
        on its own account (1), its copies for each multicast tree (2 on), its reports (the last). None of these may
        wait for another.
        """
        return max(source - self._own + 1, 0)

    def _check_trees(self, options: Options, nodes: int) -> None:
        if options.multicast_trees and nodes > TREE_NODES:
            cause = f"a tree's records name {TREE_NODES} nodes, here are {nodes}"
            raise OptionError("option multicast_trees", cause, "give 0: no tree, not even that of all")
        least = 1 if options.queue_style == "append" else 2  # a ring of slots keeps one free
        if self.slots < least:
            left = f"{self.slots} tokens for each of {options.channels} channels, which need {least}"
            raise OptionError(
                "option multicast_trees", f"{options.multicast_trees} trees leave {left}", "ask for fewer"
            )
        if options.timeout_us and self.targets > grim.MAX_CHANNELS:
            cause = f"{self.targets} channels and trees, an answer can name {grim.MAX_CHANNELS}"
            raise OptionError("option timeout_us", cause, "ask for fewer channels or multicast_trees")

    def _private(self) -> None:
        """What only a program keeps in SRAM, by stream, control block and token."""
        streams, blocks, tokens = (self.streams, self.blocks_count, grim.TOKENS) if self.executes else (0, 0, 0)
        self.ring = 1 << max(streams - 1, 0).bit_length() if streams else 0
        """Streams that have room in the rings of those that are ready, or held."""
        self.cursor = self._take(4 * streams)
        self.ready = self._take(2 * self.ring)
        self.held = self._take(8 * self.ring)
        self.queued = self._take(8 * blocks)
        self.by_token = self._take(4 * tokens)

    def _chain(self, options: Options) -> None:
        """The control blocks of all deliveries that can be under way."""
        pieces = self.payload // min(options.cut_through_least, self.payload) + 4 if options.cut_through_bytes else 2
        pages = self.payload // PAGE + 2
        self.translation_pieces = max(16, pages)
        self.own_slots = max(options.reply_bytes // self.slot + 1, 3)
        """Segments that the queue of the NI's own channel holds."""
        replicas = 2 * TREE_CHANNELS if options.multicast_trees else 0
        blocks = RECEIVE_BUFFERS * max(pieces, pages, replicas) + 3 * replicas + self.own_slots * pages
        blocks += 2 * (REPORTS + DRAINS) + 10
        self.blocks_count = 1 << blocks.bit_length()
        self.blocks = self._take(Block.SIZE * self.blocks_count)
        self.pointers = self._take(8 * self.blocks_count)

    def _remote(self, options: Options) -> None:
        """The translation cache, and the queue of what the NI sends on its own account."""
        self.runtime_count = options.translation_runtime
        self.runtime_bytes = Runtime.PIECES + 8 * self.translation_pieces
        self.static = self._take(Static.BYTES * options.translation_static)
        self.maps = self._take(MAP_BYTES * options.translation_static)
        self.runtime = self._take(self.runtime_bytes * options.translation_runtime)
        self.own_limit = (self.own_slots - 1) * self.slot
        self.own_queue = self._take(self.own_slots * self.slot)

    def _multicast(self, options: Options) -> None:
        """The multicast trees: what each NI does in each, and the copies that it has made."""
        self.trees = self._take(Tree.BYTES * options.multicast_trees)
        self.tree_limit = (TREE_SLOTS - 1) * self.slot
        self.tree_queues = tuple(self._take(TREE_SLOTS * self.slot) for _ in range(options.multicast_trees))
        self.reports_afar = self._take(REPORT_BYTES * grim.REPORT_TOKENS)
        """Reports to other hosts, with their routes."""

    def _doorbell_fifo(self, options: Options) -> None:
        """A FIFO with an entry for every message that the queues can hold, at a multiple of its size."""
        each = min(options.queue_bytes, self.sram_bytes // options.channels) // (ROUTE_BYTES + grim.HEADER_BYTES) + 1
        need = Size.DOORBELL_ENTRY * options.channels * each
        self.doorbell_code = max(-(-need // Size.DOORBELL_FIFO) - 1, 0).bit_length()
        self.doorbell_bytes = Size.DOORBELL_FIFO << self.doorbell_code
        if self.doorbell_code > LARGEST_FIFO:
            cause = f"the queues can hold {options.channels * each} messages, more than a doorbell FIFO has entries"
            raise OptionError("option doorbell_notify", cause, "make queue_bytes smaller")
        self._at = self._at + self.doorbell_bytes - 1 & -self.doorbell_bytes
        self.doorbells = self._take(self.doorbell_bytes)

    def _incoming(self, options: Options) -> None:
        """Half of what is left for receive buffers that incoming queues can hold, as many for each channel."""
        self.pool = 0
        if options.buffering == "both":
            each = self.buffer_bytes + 63 & ~63
            self.pool = max(self.sram_bytes - self._at, 0) // 2 // each // options.channels * options.channels
            self.buffers += tuple(self._take(self.buffer_bytes) for _ in range(self.pool))

    def _queues(self, options: Options) -> None:
        capacity = max(self.sram_bytes - self._at, 0) // options.channels & ~63
        if capacity < 3 * self.slot + 64:
            cause = f"{self.sram_bytes} bytes of SRAM leave {capacity} for the queue of a channel, three segments need "
            cause += f"{3 * self.slot + 64}"
            remedy = "ask for fewer channels or smaller segments"
            if (answers := CONTROL_ENTRY * self.control_entries) > self.sram_bytes // 4:
                cause += f"; {answers} are for the answers that may be owed to all nodes"
                remedy = "take a NIC with more memory (SET sram.bytes=8388608)"
            raise OptionError(f"option channels={options.channels}", cause, remedy)
        self.queue_bytes = options.queue_bytes
        if options.queue_bytes > capacity:
            if options.queue_bytes != Options.queue_bytes:  # asked for
                gets = f"a channel's queue has {capacity}; it gets those"
                self.warnings.append(f"queue_bytes {options.queue_bytes}: {gets}")
            self.queue_bytes = capacity
        if options.queue_style == "hybrid" and options.dma_inject:
            cause = "the hybrid queue keeps payloads apart from where they are fetched to"
            raise OptionError("option dma_inject", cause, "take queue_style append or slotted")
        if self.queue_bytes < 3 * (self.slot + STATUS_BYTES):
            cause = f"{self.queue_bytes} hold no three segments of {options.segment_bytes}"
            raise OptionError("option queue_bytes", cause, "make it larger or segment_bytes smaller")
        self._shape(options.queue_style)
        self.queues = tuple(self._take(self.queue_bytes) for _ in range(options.channels))
        self.payload_queues = tuple(queue + self.limit for queue in self.queues)

    def _shape(self, style: str) -> None:
        """How a channel's queue is divided (paper 000, 4.2.2). A slot carries a token as a scoreboard entry does."""
        self.stride = 0
        """Bytes of a slot; 0: messages stand one behind the other."""
        self.limit = self.queue_bytes - self.slot & ~7
        self.queue_slots = self.slots
        self.payload_limit = 0
        if style == "slotted":
            self.stride = STATUS_BYTES + self.slot
            self.queue_slots = min(self.slots, self.queue_bytes // self.stride)
        elif style == "hybrid":
            self.stride = STATUS_BYTES + ROUTE_BYTES + grim.HEADER_BYTES
            self.queue_slots = min(self.slots, max(self.queue_bytes // 4 // self.stride, 2))
            self.payload_limit = self.queue_bytes - self.queue_slots * self.stride - self.payload & ~7
        if self.stride:
            self.limit = self.queue_slots * self.stride

    def register(self, channel: int, register: Register) -> int:
        """SRAM address of a channel's register."""
        return self.channels + REGISTERS * channel + register

    def counter(self, counter: Counter) -> int:
        """SRAM address of a counter."""
        return self.counters + 4 * counter
