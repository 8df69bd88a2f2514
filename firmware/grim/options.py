"""GRIM's run-time options: one table of names, defaults and ranges for both sides of the PCI bus."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.grim import formats as grim
from firmware.options import LayerOptions, OptionError, option
from pymodels.card.registers import BANK_BYTES

ALL_AT_MOST = 32
"""Nodes up to which every NI tells all others, unless option synchronisation says which."""


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults. Those that no paper gives are assumed (ours)."""

    channels: int = option(1, "Logical channels of the NI", 1, grim.MAX_CHANNELS)
    queue_bytes: int = option(
        1 << 18,
        "Outgoing message queue of a channel in NIC SRAM; more than there is gets what there is, with a warning",
        256,
        1 << 23,
    )
    segment_bytes: int = option(4096, "Payload of a segment of a long message; a multiple of 4", 4, grim.MAX_PAYLOAD)
    window: int = option(grim.MAX_WINDOW, "Messages in flight of one stream", 1, grim.MAX_WINDOW)
    hybrid_wait: int = option(
        0,
        "Hybrid queue: between header and payload the NI waits for the link (1), as early GRIM did, or serves "
        "what else happens (0)",
        0,
        1,
    )
    control_queue: int = option(
        1,
        "An answer that finds the link busy waits in the control-message queue (1), or the NI waits for the "
        "link (0), and may deadlock (paper 000, 4.2.3)",
        0,
        1,
    )
    retry_delay_us: int = option(
        10, "From a NACK to the retransmission; 0: at once. Assumed: no paper gives it", 0, 1_000_000
    )
    timeout_us: int = option(
        0,
        "A message without an answer is sent again after so long (paper 000, 4.2.1); 0: the network loses nothing",
        0,
        1_000_000,
    )
    timeout_tries: int = option(
        100, "Time-outs without a sign of life after which a NI counts as down; 0: never. Assumed", 0, 1_000_000
    )
    host_queue_bytes: int = option(1 << 18, "Pinned incoming queue of an endpoint in host memory", 256, 1 << 26)
    card_queue_bytes: int = option(
        BANK_BYTES, "Each of the two incoming queues of an FPGA card, in its banks", 1 << 10, BANK_BYTES
    )
    write_combine: int = option(1, "Inject by write-combined PIO (1) or by single words (0)", 0, 1)
    poll_first: int = option(1, "Every API call polls once first (paper 000, 4.4.2)", 0, 1)
    cut_through_bytes: int = option(
        2048,
        "Host DMA of a message begins when so much of it has arrived; 0: when all has. A multiple of 8",
        0,
        grim.MAX_PAYLOAD,
    )
    cut_through_least: int = option(
        512, "Least further piece of it that is worth a DMA of its own", 8, grim.MAX_PAYLOAD
    )
    sync_period_us: int = option(
        50, "The NIs' notice at `grim_enable` is repeated so often until answered", 1, 1_000_000
    )
    pause_turns: int = option(500, "Turns of the host's waiting loop between two looks at a full queue", 1, 1_000_000)
    sram_bytes: int = option(0, "How much of the NIC's SRAM is used; 0: all of it", 0, 1 << 23)
    dma_inject: int = option(0, "Payload in host memory is fetched by NI DMA (1) or injected by PIO (0)", 0, 1)
    doorbell_notify: int = option(
        0,
        "The host tells of a message by the doorbell FIFO (1) or by the back pointer that the NI searches for (0)",
        0,
        1,
    )
    search_timer: int = option(0, "The NI times its search of the channels when the host asks for it (1)", 0, 1)
    multicast_trees: int = option(
        4, "Multicast trees, the one of all hosts (broadcast) included; each takes room and tokens at every NI", 0, 24
    )
    translation_static: int = option(
        4, "Entries of the translation cache for contiguous regions, programmed by the library", 1, 64
    )
    translation_runtime: int = option(
        16, "Entries of the translation cache for translations that the driver gives at run time", 1, 64
    )
    reply_bytes: int = option(
        1 << 16,
        "The queue of the NI's own channel, for replies to remote reads: room for three segments at least",
        0,
        1 << 20,
    )
    page_seed: int = option(1, "Scatters the pages of user-space pinned memory", 0, 1 << 31)
    poll_thread: int = option(0, "A thread of the library polls (paper 000, 4.4.2); the application need not", 0, 1)
    poll_period_us: int = option(
        50, "The polling thread sleeps so long between its polls. Assumed: no paper gives it", 1, 1_000_000
    )
    overflow: int = option(
        1, "Handlers that find no room in the NI append to the overflow queue (1) or wait (0: a deadlock; 4.4.3)", 0, 1
    )
    crc32: int = option(
        0,
        "Messages from host to host carry a CRC-32 from end to end (1; ours): one that was changed is an error there",
        0,
        1,
    )
    sequencing: str = option(
        "any-to-any",
        "What is sequenced together (paper 000, 4.3.2): all messages to a NI, or those of one (source "
        "channel, NI, destination channel)",
        choices=("any-to-any", "per-ni"),
    )
    buffering: str = option(
        "sending",
        "Where NIs buffer messages (paper 000, 4.3.3): at the sending one only, or at both, with a cut-through path",
        choices=("sending", "both"),
    )
    synchronisation: str = option(
        "auto",
        "Who tells whom at `grim_enable`: every NI all others (paper 003, C.2), or its neighbours in a tree "
        "(ours); auto: a tree above ALL_AT_MOST nodes, where the network loses nothing",
        choices=("auto", "all", "tree"),
    )
    queue_style: str = option(
        "append",
        "How messages stand in a channel's queue (paper 000, 4.2.2): one behind the other, in slots of one "
        "size, or headers in slots and payloads apart",
        choices=("append", "slotted", "hybrid"),
    )

    def check(self) -> None:
        """Raise OptionError for sizes that are not multiples, and for values that exclude each other."""
        for name, unit in (("segment_bytes", 4), ("cut_through_bytes", 8), ("cut_through_least", 8)):
            if getattr(self, name) % unit:
                raise OptionError(f"option {name}", f"{getattr(self, name)} is not a multiple of {unit}", "round it")
        if self.crc32 and self.dma_inject:
            cause = "the NI fetches the payload from where it stands, and no CRC stands behind it there"
            raise OptionError("option crc32=1 with dma_inject=1", cause, "take dma_inject=0")
        if self.synchronisation == "tree" and self.timeout_us:
            cause = "with timeout_us every NI counts the epochs of every other"
            raise OptionError("option synchronisation=tree", cause, "take all")

    def has_tree(self, nodes: int) -> bool:
        """Return True if the NIs of so many nodes synchronise along a tree at `grim_enable`."""
        large = nodes > ALL_AT_MOST and not self.timeout_us
        return self.synchronisation == "tree" or (self.synchronisation == "auto" and large)
