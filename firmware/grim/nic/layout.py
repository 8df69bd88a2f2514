"""GRIM's map of the NIC's SRAM and of an endpoint's pinned queue. Host and NI compute the same map.

Queues, on both sides, are rings of whole messages that never wrap inside a message. A message begins below `limit` and
may extend into the space behind it, which has room for one message; the next message then begins at 0. Front and back
are byte offsets. Equal offsets mean empty, so a queue is never completely full.
"""

from __future__ import annotations

from enum import IntEnum

from firmware.grim import formats as grim
from firmware.grim.nic.remote_memory.entries import MAP_BYTES, PAGE, WINDOWS, Runtime, Static, Window
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
"""Invalid stream or buffer number."""
STATUS_BYTES = 8
"""Size of a slot's first field: the state of its message or, in a hybrid queue, the offset of its payload."""
ROUTE_BYTES = 8
"""Room before a message for its route, right-aligned; the send engine skips the unused bytes (register SA)."""
CONTROL_ENTRY = ROUTE_BYTES + grim.CONTROL_BYTES
E2L_CHAIN = 2
"""Host DMA chain that fetches payloads (option dma_inject)."""
L2E_CHAIN = 0
"""Host DMA chain that delivers messages to the host."""
RECEIVE_BUFFERS = 2
DRAINS = 8
"""Maximum number of queued messages in DMA to the host at a time (option buffering)."""
REPORTS = 16
"""Maximum number of reports to this NI's host in DMA at a time."""
REPORT_BYTES = ROUTE_BYTES + grim.HEADER_BYTES
"""Size of a report to another host, including its route."""
LARGEST_FIFO = 7
"""Largest size code of a doorbell FIFO: 4 KB << 7."""
START, STATE, FREED, KERNEL = int(Word.START), int(Word.STATE), int(Word.FREED), int(Word.KERNEL)
PROGRAM_END = 0x10000
"""SRAM address at which compiled firmware ends. The configuration that `boot` writes begins here."""
CONFIGURATION_BYTES = 256
VARIABLES_BYTES = 1024
"""Room for `struct ni` of `ni.h`, which begins with the counters."""
STARTED = 0x4752494D
"""Start word that the host writes after it has initialised the channel registers."""


@quick
class Register(IntEnum):
    """Registers of a channel: byte offsets within its record, with the writer in brackets."""

    FRONT = 0
    """Offset of the oldest unacknowledged message [NI]."""
    BACK = 4
    """Offset at which the host appends the next message [host]."""
    HOST_FRONT = 8
    """Read position in the endpoint's queue [host]."""
    HOST_BASE = 12
    """Physical address of the endpoint's queue [host, at enable]."""

    PAYLOAD_FRONT = 16
    """Hybrid queue: offset of the oldest unacknowledged payload [NI]."""
    NEXT = 20
    """Offset of the first message that the NI has not processed (paper 000, 4.3.1) [NI]."""


REGISTERS = 32


@quick
class Tree(IntEnum):
    """Record of a multicast tree in a NI's SRAM: byte offsets of its two words, both written by the host."""

    PLACE = 0
    """VNN of the root (8 bits), VNNs of two children (8 each; the NI's own VNN: no child), subscribed channels (8)."""
    KNOWN = 4
    """1 if this NI is a node of the tree."""
    BYTES = 8


TREE_CHANNELS = 8
"""Number of channels that can subscribe: 0..7 (readings B11)."""
TREE_NODES = 256
"""Maximum number of nodes of a cluster with trees: tree records and copies hold VNNs of 8 bits."""
TREE_SLOTS = 4
"""Room of a tree's copy queue in messages of maximum length, including the one behind the ring's limit."""


@quick
class HostQueue(IntEnum):
    """Byte offsets within an endpoint's pinned queue."""

    BACK = 0
    """Offset at which the NI puts the next message [NI, by DMA]."""
    STATUS = 8
    """`State` of the NI [NI, by DMA]."""
    FETCHED = 16
    """Number of the channel's payloads that the NI has fetched [NI, by DMA]."""
    RING = 64
    """Start of the messages."""


def fits(front: int, back: int, size: int, limit: int) -> bool:
    """Return True if a message can be appended to a ring.

    Args:
        front: Offset of the oldest message.
        back: Offset at which the message would begin.
        size: Bytes of the message.
        limit: Offset below which a message must begin.
    """
    end = back + size
    return end < front if back < front else end < limit or front != 0


def following(offset: int, size: int, limit: int) -> int:
    """Return the ring offset that follows a message of `size` bytes at `offset`."""
    end = offset + size
    return end if end < limit else 0


class Layout:
    """Addresses in SRAM and sizes of queues."""

    def __init__(self, options: Options, nodes: int, sram_bytes: int, executes: bool = False) -> None:
        """Compute the map.

        Args:
            options: GRIM's options.
            nodes: Number of nodes in the cluster.
            sram_bytes: SRAM of the NIC in bytes.
            executes: True if the NIC executes compiled firmware, whose program and variables are in SRAM.

        Raises:
            OptionError: The SRAM or a queue is too small for the options.
        """
        if options.sram_bytes > sram_bytes:
            cause = f"{options.sram_bytes} bytes, but the NIC has {sram_bytes}"
            raise OptionError("option sram_bytes", cause, f"give {sram_bytes} or less")
        self.sram_bytes = options.sram_bytes or sram_bytes
        self.warnings: list[str] = []
        self.payload = grim.padded((options.segment_bytes + 3) // 4)
        self.host_slot = grim.HEADER_BYTES + self.payload
        self.slot = ROUTE_BYTES + self.host_slot
        self.host_limit = options.host_queue_bytes - HostQueue.RING - self.host_slot & ~7
        if self.host_limit < 2 * self.host_slot:
            cause = f"{options.host_queue_bytes} bytes have no room for three segments of {options.segment_bytes}"
            raise OptionError("option host_queue_bytes", cause, "increase it or reduce segment_bytes")
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
        """Address of two words: the FPGA card's read positions in its rings [card]."""
        self._incoming(options)
        self._queues(options)
        self.end = self._at

    def _take(self, size: int) -> int:
        at = self._at
        self._at = at + size + 63 & ~63
        return at

    def _streams(self, options: Options, nodes: int) -> None:
        """Reserve the tables of channels, streams and tokens, and the extra state of sequencing and time-outs."""
        per_ni, trees = options.sequencing == "per-ni", options.multicast_trees
        self.sources = options.channels + 1 + trees + 1
        self.targets = options.channels + trees
        """Number of destination channels: those of the hosts and one root for each multicast tree. `sources` counts the
        sending channels: those of the hosts, the NI's own, one for each tree, and one for reports to other hosts.
        """
        self._own = options.channels
        self.streams = nodes * (self.lane(self.sources - 1) + 1) if per_ni else self.sources * nodes * self.targets
        """Number of outgoing, and of incoming, streams of all NIs."""
        others = grim.NI_TOKENS + trees * grim.TREE_TOKENS + grim.REPORT_TOKENS
        self.slots = (grim.TOKENS - others) // options.channels
        """Scoreboard entries, and so tokens, of a host channel. The tokens of the NI's own channel, the trees and the
        reports to other hosts follow.
        """
        self._check_trees(options, nodes)
        self.node_shift = max(nodes - 1, 0).bit_length()
        self.channel_shift = max(self.sources - 1, self.targets - 1).bit_length()
        """Bit position of the channel, and in `node_shift` of the NI, in the stream numbers of compiled firmware."""
        if self.executes:
            self.streams = self.sources << self.node_shift << self.channel_shift
        self.counters = self._take(VARIABLES_BYTES if self.executes else 4 * len(Counter) + Window.BYTES * WINDOWS)
        self.windows = self.counters + 4 * len(Counter)
        """Address of the FPGA card's windows for remote memory; compiled firmware has none."""
        self.channels = self._take(REGISTERS * self.sources)
        self.routes = self._take(16 * nodes)
        self.scoreboard = self._take(16 * grim.TOKENS)
        self.outgoing = self._take(4 * self.streams)
        self.incoming = self._take(4 * self.streams)
        self.unanswered = self._take(40 * self.streams if options.timeout_us else 0)
        self.transfers = self._take(8 * nodes * options.channels**2)
        """Next address or failure cause of each transfer in progress, by NI and channel pair, for requests and for
        replies.
        """
        self.by_sequence = self._take(grim.TOKENS * self.streams if per_ni else 0)

    def lane(self, source: int) -> int:
        """Return the lane of a source channel: the messages that share a sequence with per-NI sequencing.

        Lane 0 has all messages of the host, lane 1 the NI's own messages. Lane 2 and up have the copies for each
        multicast tree, the last lane the reports. No lane may wait for another one.
        """
        return max(source - self._own + 1, 0)

    def _check_trees(self, options: Options, nodes: int) -> None:
        if options.multicast_trees and nodes > TREE_NODES:
            cause = f"trees support at most {TREE_NODES} nodes, but the cluster has {nodes}"
            raise OptionError("option multicast_trees", cause, "give 0 (no multicast and no broadcast)")
        least = 1 if options.queue_style == "append" else 2  # a ring of slots keeps one slot free
        if self.slots < least:
            left = f"{self.slots} tokens for each of {options.channels} channels; the minimum is {least}"
            raise OptionError("option multicast_trees", f"{options.multicast_trees} trees leave {left}", "give fewer")
        if options.timeout_us and self.targets > grim.MAX_CHANNELS:
            cause = f"{self.targets} channels and trees, but an answer can name at most {grim.MAX_CHANNELS}"
            raise OptionError("option timeout_us", cause, "reduce channels or multicast_trees")

    def _private(self) -> None:
        """Reserve the tables that only compiled firmware keeps in SRAM, by stream, control block and token."""
        streams, blocks, tokens = (self.streams, self.blocks_count, grim.TOKENS) if self.executes else (0, 0, 0)
        self.ring = 1 << max(streams - 1, 0).bit_length() if streams else 0
        """Number of entries in the rings of ready and of held streams."""
        self.cursor = self._take(4 * streams)
        self.ready = self._take(2 * self.ring)
        self.held = self._take(8 * self.ring)
        self.queued = self._take(8 * blocks)
        self.by_token = self._take(4 * tokens)

    def _chain(self, options: Options) -> None:
        """Reserve the control blocks of all deliveries that can be in progress."""
        pieces = self.payload // min(options.cut_through_least, self.payload) + 4 if options.cut_through_bytes else 2
        pages = self.payload // PAGE + 2
        self.translation_pieces = max(16, pages)
        self.own_slots = max(options.reply_bytes // self.slot + 1, 3)
        """Number of segments that the queue of the NI's own channel holds."""
        replicas = 2 * TREE_CHANNELS if options.multicast_trees else 0
        blocks = RECEIVE_BUFFERS * max(pieces, pages, replicas) + 3 * replicas + self.own_slots * pages
        blocks += 2 * (REPORTS + DRAINS) + 10
        self.blocks_count = 1 << blocks.bit_length()
        self.blocks = self._take(Block.SIZE * self.blocks_count)
        self.pointers = self._take(8 * self.blocks_count)

    def _remote(self, options: Options) -> None:
        """Reserve the translation cache and the queue of the NI's own messages."""
        self.runtime_count = options.translation_runtime
        self.runtime_bytes = Runtime.PIECES + 8 * self.translation_pieces
        self.static = self._take(Static.BYTES * options.translation_static)
        self.maps = self._take(MAP_BYTES * options.translation_static)
        self.runtime = self._take(self.runtime_bytes * options.translation_runtime)
        self.own_limit = (self.own_slots - 1) * self.slot
        self.own_queue = self._take(self.own_slots * self.slot)

    def _multicast(self, options: Options) -> None:
        """Reserve the records of the multicast trees and the queues of their copies."""
        self.trees = self._take(Tree.BYTES * options.multicast_trees)
        self.tree_limit = (TREE_SLOTS - 1) * self.slot
        self.tree_queues = tuple(self._take(TREE_SLOTS * self.slot) for _ in range(options.multicast_trees))
        self.reports_afar = self._take(REPORT_BYTES * grim.REPORT_TOKENS)
        """Address of the reports to other hosts, including their routes."""

    def _doorbell_fifo(self, options: Options) -> None:
        """Reserve a doorbell FIFO, aligned to its size, with an entry for every message that the queues can hold."""
        each = min(options.queue_bytes, self.sram_bytes // options.channels) // (ROUTE_BYTES + grim.HEADER_BYTES) + 1
        need = Size.DOORBELL_ENTRY * options.channels * each
        self.doorbell_code = max(-(-need // Size.DOORBELL_FIFO) - 1, 0).bit_length()
        self.doorbell_bytes = Size.DOORBELL_FIFO << self.doorbell_code
        if self.doorbell_code > LARGEST_FIFO:
            cause = f"the queues can hold {options.channels * each} messages, more than a doorbell FIFO has entries"
            raise OptionError("option doorbell_notify", cause, "reduce queue_bytes")
        self._at = self._at + self.doorbell_bytes - 1 & -self.doorbell_bytes
        self.doorbells = self._take(self.doorbell_bytes)

    def _incoming(self, options: Options) -> None:
        """Reserve half of the remaining SRAM for the receive buffers of incoming queues, the same number for each
        channel.
        """
        self.pool = 0
        if options.buffering == "both":
            each = self.buffer_bytes + 63 & ~63
            self.pool = max(self.sram_bytes - self._at, 0) // 2 // each // options.channels * options.channels
            self.buffers += tuple(self._take(self.buffer_bytes) for _ in range(self.pool))

    def _queues(self, options: Options) -> None:
        capacity = max(self.sram_bytes - self._at, 0) // options.channels & ~63
        if capacity < 3 * self.slot + 64:
            cause = (
                f"{self.sram_bytes} bytes of SRAM leave {capacity} for each channel's queue, but three segments need "
            )
            cause += f"{3 * self.slot + 64}"
            remedy = "reduce channels or segment_bytes"
            if (answers := CONTROL_ENTRY * self.control_entries) > self.sram_bytes // 4:
                cause += f"; {answers} are reserved for pending answers to all nodes"
                remedy = "use a NIC with more memory (SET sram.bytes=8388608)"
            raise OptionError(f"option channels={options.channels}", cause, remedy)
        self.queue_bytes = options.queue_bytes
        if options.queue_bytes > capacity:
            if options.queue_bytes != Options.queue_bytes:  # set explicitly
                gets = f"reduced to {capacity} bytes, the SRAM left for each channel"
                self.warnings.append(f"queue_bytes {options.queue_bytes}: {gets}")
            self.queue_bytes = capacity
        if options.queue_style == "hybrid" and options.dma_inject:
            cause = "a hybrid queue cannot hold fetched payloads"
            raise OptionError("option dma_inject", cause, "use queue_style append or slotted")
        if self.queue_bytes < 3 * (self.slot + STATUS_BYTES):
            cause = f"{self.queue_bytes} bytes have no room for three segments of {options.segment_bytes}"
            raise OptionError("option queue_bytes", cause, "increase it or reduce segment_bytes")
        self._shape(options.queue_style)
        self.queues = tuple(self._take(self.queue_bytes) for _ in range(options.channels))
        self.payload_queues = tuple(queue + self.limit for queue in self.queues)

    def _shape(self, style: str) -> None:
        """Divide a channel's queue by its style (paper 000, 4.2.2). A slot has a token, like a scoreboard entry."""
        self.stride = 0
        """Bytes of a slot; 0 if messages are contiguous."""
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
        """Return the SRAM address of a channel's register."""
        return self.channels + REGISTERS * channel + register

    def counter(self, counter: Counter) -> int:
        """Return the SRAM address of a counter."""
        return self.counters + 4 * counter
