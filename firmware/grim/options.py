"""GRIM's run-time options: one table of names, defaults and ranges for both sides of the PCI bus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from firmware.grim import formats as grim
from firmware.options import OptionError, check_values
from pymodels.card.registers import BANK_BYTES

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "channels": (1, grim.MAX_CHANNELS),
        "queue_bytes": (256, 1 << 23),
        "segment_bytes": (4, grim.MAX_PAYLOAD),
        "window": (1, grim.MAX_WINDOW),
        "hybrid_wait": (0, 1),
        "control_queue": (0, 1),
        "retry_delay_us": (0, 1_000_000),
        "timeout_us": (0, 1_000_000),
        "timeout_tries": (0, 1_000_000),
        "host_queue_bytes": (256, 1 << 26),
        "card_queue_bytes": (1 << 10, BANK_BYTES),
        "write_combine": (0, 1),
        "poll_first": (0, 1),
        "cut_through_bytes": (0, grim.MAX_PAYLOAD),
        "cut_through_least": (8, grim.MAX_PAYLOAD),
        "sync_period_us": (1, 1_000_000),
        "pause_turns": (1, 1_000_000),
        "sram_bytes": (0, 1 << 23),
        "dma_inject": (0, 1),
        "doorbell_notify": (0, 1),
        "search_timer": (0, 1),
        "multicast_trees": (0, 24),
        "translation_static": (1, 64),
        "translation_runtime": (1, 64),
        "reply_bytes": (0, 1 << 20),
        "page_seed": (0, 1 << 31),
        "poll_thread": (0, 1),
        "poll_period_us": (1, 1_000_000),
        "overflow": (0, 1),
        "crc32": (0, 1),
    }
)
"""Least and greatest value of each option that is a number."""

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sequencing": ("any-to-any", "per-ni"),
        "buffering": ("sending", "both"),
        "synchronisation": ("auto", "all", "tree"),
        "queue_style": ("append", "slotted", "hybrid"),
    }
)
"""The words that each other option knows."""


ALL_AT_MOST = 32
"""Nodes up to which every NI tells all others, unless option synchronisation says which."""


@dataclass(frozen=True)
class Options:
    """The options with their defaults. Those that no paper gives are assumed (ours)."""

    channels: int = 1
    """Logical channels of the NI."""
    queue_bytes: int = 1 << 18
    """Outgoing message queue of a channel in NIC SRAM; more than there is gets what there is, with a warning."""
    segment_bytes: int = 4096
    """Payload of a segment of a long message; a multiple of 4."""
    window: int = grim.MAX_WINDOW
    """Messages in flight of one stream."""
    sequencing: str = "any-to-any"
    """What is sequenced together (paper 000, 4.3.2): all messages to a NI, or those of one (source channel, NI,
    destination channel)."""
    queue_style: str = "append"
    """How messages stand in a channel's queue (paper 000, 4.2.2): one behind the other, in slots of one size, or
    headers in slots and payloads apart."""
    buffering: str = "sending"
    """Where NIs buffer messages (paper 000, 4.3.3): at the sending one only, or at both, with a cut-through path."""
    hybrid_wait: int = 0
    """Hybrid queue: between header and payload the NI waits for the link (1), as early GRIM did, or serves what else
    happens (0)."""
    control_queue: int = 1
    """An answer that finds the link busy waits in the control-message queue (1), or the NI waits for the link (0), and
    may deadlock (paper 000, 4.2.3)."""
    retry_delay_us: int = 10
    """From a NACK to the retransmission; 0: at once. Assumed: no paper gives it."""
    timeout_us: int = 0
    """A message without an answer is sent again after so long (paper 000, 4.2.1); 0: the network loses nothing."""
    timeout_tries: int = 100
    """Time-outs without a sign of life after which a NI counts as down; 0: never. Assumed."""
    host_queue_bytes: int = 1 << 18
    """Pinned incoming queue of an endpoint in host memory."""
    card_queue_bytes: int = BANK_BYTES
    """Each of the two incoming queues of an FPGA card, in its banks."""
    write_combine: int = 1
    """Inject by write-combined PIO (1) or by single words (0)."""
    poll_first: int = 1
    """Every API call polls once first (paper 000, 4.4.2)."""
    cut_through_bytes: int = 2048
    """Host DMA of a message begins when so much of it has arrived; 0: when all has. A multiple of 8."""
    cut_through_least: int = 512
    """Least further piece of it that is worth a DMA of its own."""
    sync_period_us: int = 50
    """The NIs' notice at `grim_enable` is repeated so often until answered."""
    synchronisation: str = "auto"
    """Who tells whom at `grim_enable`: every NI all others (paper 003, C.2), or its neighbours in a tree (ours);
    auto: a tree above ALL_AT_MOST nodes, where the network loses nothing."""
    pause_turns: int = 500
    """Turns of the host's waiting loop between two looks at a full queue."""
    sram_bytes: int = 0
    """How much of the NIC's SRAM is used; 0: all of it."""
    dma_inject: int = 0
    """Payload in host memory is fetched by NI DMA (1) or injected by PIO (0)."""
    doorbell_notify: int = 0
    """The host tells of a message by the doorbell FIFO (1) or by the back pointer that the NI searches for (0)."""
    multicast_trees: int = 4
    """Multicast trees, the one of all hosts (broadcast) included; each takes room and tokens at every NI."""
    search_timer: int = 0
    """The NI times its search of the channels when the host asks for it (1)."""

    translation_static: int = 4
    """Entries of the translation cache for contiguous regions, programmed by the library."""
    translation_runtime: int = 16
    """Entries of the translation cache for translations that the driver gives at run time."""
    reply_bytes: int = 1 << 16
    """The queue of the NI's own channel, for replies to remote reads: room for three segments at least."""
    page_seed: int = 1
    """Scatters the pages of user-space pinned memory."""
    poll_thread: int = 0
    """A thread of the library polls (paper 000, 4.4.2); the application need not."""
    poll_period_us: int = 50
    """The polling thread sleeps so long between its polls. Assumed: no paper gives it."""
    overflow: int = 1
    """Handlers that find no room in the NI append to the overflow queue (1) or wait (0: a deadlock; 4.4.3)."""
    crc32: int = 0
    """Messages from host to host carry a CRC-32 from end to end (1; ours): one that was changed is an error there."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """Options from names and values. Raises OptionError naming the option."""
        check_values("GRIM", OptionError, given, RANGES, WORDS)
        options = cls(**given)  # type: ignore[arg-type]
        for name, unit in (("segment_bytes", 4), ("cut_through_bytes", 8), ("cut_through_least", 8)):
            if getattr(options, name) % unit:
                raise OptionError(f"option {name}", f"{getattr(options, name)} is not a multiple of {unit}", "round it")
        if options.crc32 and options.dma_inject:
            cause = "the NI fetches the payload from where it stands, and no CRC stands behind it there"
            raise OptionError("option crc32=1 with dma_inject=1", cause, "take dma_inject=0")
        if options.synchronisation == "tree" and options.timeout_us:
            cause = "with timeout_us every NI counts the epochs of every other"
            raise OptionError("option synchronisation=tree", cause, "take all")
        return options

    def has_tree(self, nodes: int) -> bool:
        """Whether NIs synchronise in a tree at `grim_enable`."""
        large = nodes > ALL_AT_MOST and not self.timeout_us
        return self.synchronisation == "tree" or (self.synchronisation == "auto" and large)


OPTION_NAMES = tuple(field.name for field in fields(Options))
"""All options, in the order of the table."""
