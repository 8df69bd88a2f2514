"""GRIM's run-time options: one table of names, defaults and ranges for both sides of the PCI bus."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.grim import formats as grim
from firmware.options import LayerOptions, OptionError, option
from pymodels.card.registers import BANK_BYTES

ALL_AT_MOST = 32
"""Maximum number of nodes for which `synchronisation=auto` selects all pairs."""


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options of GRIM with their defaults. Defaults that no paper gives are assumed (ours)."""

    channels: int = option(1, "Logical channels of the NI", 1, grim.MAX_CHANNELS)
    queue_bytes: int = option(
        1 << 18,
        "Outgoing queue of a channel in NIC SRAM, in bytes; reduced to the available SRAM, with a warning",
        256,
        1 << 23,
    )
    segment_bytes: int = option(4096, "Payload of a segment of a long message; a multiple of 4", 4, grim.MAX_PAYLOAD)
    window: int = option(grim.MAX_WINDOW, "Messages in flight of one stream", 1, grim.MAX_WINDOW)
    hybrid_wait: int = option(
        0,
        "Hybrid queue: between header and payload the NI waits for the link (1), as in early GRIM, or serves "
        "other events (0)",
        0,
        1,
    )
    control_queue: int = option(
        1,
        "Answers wait for a busy link in the control-message queue (1), or the NI stops until the link is free "
        "(0), which may deadlock (paper 000, 4.2.3)",
        0,
        1,
    )
    retry_delay_us: int = option(
        10, "Time from a NACK to the retransmission, 0 for none; assumed, no paper gives it", 0, 1_000_000
    )
    card_hold_us: int = option(
        100_000,
        "Time without a segment after which an unfinished message to an FPGA card no longer keeps others from it; "
        "assumed",
        1,
        1_000_000_000,
    )
    timeout_us: int = option(
        0,
        "Time after which an unanswered message is retransmitted (paper 000, 4.2.1); 0 for a lossless network",
        0,
        1_000_000,
    )
    timeout_tries: int = option(
        100, "Time-outs without any packet after which a NI counts as down, 0 for never; assumed", 0, 1_000_000
    )
    host_queue_bytes: int = option(
        1 << 18, "Pinned incoming queue of an endpoint in host memory, in bytes", 256, 1 << 26
    )
    card_queue_bytes: int = option(
        BANK_BYTES, "Each of the two incoming queues in an FPGA card's banks, in bytes", 1 << 10, BANK_BYTES
    )
    write_combine: int = option(1, "Inject by write-combined PIO (1) or by single words (0)", 0, 1)
    poll_first: int = option(1, "Every API call begins with a poll (paper 000, 4.4.2)", 0, 1)
    cut_through_bytes: int = option(
        2048,
        "Received bytes at which the host DMA of a message begins, a multiple of 8; 0 for the whole message",
        0,
        grim.MAX_PAYLOAD,
    )
    cut_through_least: int = option(
        512, "Minimum size of each further piece in DMA, a multiple of 8", 8, grim.MAX_PAYLOAD
    )
    sync_period_us: int = option(
        50, "Interval at which a NI repeats its notice at `grim_enable` until it is answered", 1, 1_000_000
    )
    pause_turns: int = option(
        500, "Iterations of the host's waiting loop between two polls of a full queue", 1, 1_000_000
    )
    sram_bytes: int = option(0, "Bytes of the NIC's SRAM to use, 0 for all", 0, 1 << 23)
    dma_inject: int = option(0, "Payload in host memory is fetched by NI DMA (1) or injected by PIO (0)", 0, 1)
    doorbell_notify: int = option(
        0,
        "The host announces a message by the doorbell FIFO (1) or by the back pointer that the NI polls (0)",
        0,
        1,
    )
    search_timer: int = option(0, "The NI times its search of the channels on request of the host (1)", 0, 1)
    multicast_trees: int = option(
        4, "Multicast trees, including the broadcast tree of all hosts; each takes SRAM and tokens of every NI", 0, 24
    )
    translation_static: int = option(
        4, "Entries of the translation cache for contiguous regions, programmed by the library", 1, 64
    )
    translation_runtime: int = option(16, "Entries of the translation cache for the driver's answers to misses", 1, 64)
    reply_bytes: int = option(
        1 << 16,
        "Queue for replies to remote reads, in bytes; at least three segments are allocated",
        0,
        1 << 20,
    )
    page_seed: int = option(1, "Seed that scatters the pages of user-space pinned memory", 0, 1 << 31)
    poll_thread: int = option(
        0, "A thread of the library polls, so that the application need not (1; paper 000, 4.4.2)", 0, 1
    )
    poll_period_us: int = option(
        50, "Interval between the polls of the polling thread; assumed, no paper gives it", 1, 1_000_000
    )
    overflow: int = option(
        1,
        "Handlers append to the overflow queue when the NI is full (1), or wait (0), which may deadlock (4.4.3)",
        0,
        1,
    )
    crc32: int = option(
        0,
        "Messages from host to host carry an end-to-end CRC-32 (1; ours); a mismatch is an error at the receiver",
        0,
        1,
    )
    sequencing: str = option(
        "any-to-any",
        "Messages that share sequence numbers (paper 000, 4.3.2): all messages to a NI, or those of one (source "
        "channel, NI, destination channel)",
        choices=("any-to-any", "per-ni"),
    )
    buffering: str = option(
        "sending",
        "NIs that buffer messages (paper 000, 4.3.3): the sending NI only, or both, with a cut-through path",
        choices=("sending", "both"),
    )
    synchronisation: str = option(
        "auto",
        "Exchange of notices at `grim_enable`: every NI with all others (paper 003, C.2), or along a tree "
        "(ours); auto selects a tree above ALL_AT_MOST nodes if timeout_us is 0",
        choices=("auto", "all", "tree"),
    )
    queue_style: str = option(
        "append",
        "Layout of a channel's queue (paper 000, 4.2.2): contiguous messages, slots of one size, or headers in "
        "slots and payloads in a separate ring",
        choices=("append", "slotted", "hybrid"),
    )

    def check(self) -> None:
        """Raise OptionError for sizes that are not multiples of their unit, and for values that exclude each other."""
        for name, unit in (("segment_bytes", 4), ("cut_through_bytes", 8), ("cut_through_least", 8)):
            if getattr(self, name) % unit:
                raise OptionError(f"option {name}", f"{getattr(self, name)} is not a multiple of {unit}", "round it")
        if self.crc32 and self.dma_inject:
            cause = "the NI fetches the payload from host memory, which has no CRC behind it"
            raise OptionError("option crc32=1 with dma_inject=1", cause, "use dma_inject=0")
        if self.synchronisation == "tree" and self.timeout_us:
            cause = "timeout_us needs notices between all pairs of NIs"
            raise OptionError("option synchronisation=tree", cause, "use all")

    def has_tree(self, nodes: int) -> bool:
        """Return True if the NIs of a cluster of `nodes` nodes synchronise along a tree at `grim_enable`."""
        large = nodes > ALL_AT_MOST and not self.timeout_us
        return self.synchronisation == "tree" or (self.synchronisation == "auto" and large)
