"""The run-time options of `via`: one table of names, defaults and ranges for both sides of the PCI bus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from firmware.options import OptionError, check_values
from firmware.via import formats as via

PRESETS: Mapping[str, Mapping[str, str | int]] = MappingProxyType(
    {
        "firmvia": {"doorbell": "d2", "descriptors": "pio", "translation": "at1", "completion": "cq2"},
        "bvia1": {
            "doorbell": "d1_word",
            "descriptors": "dma",
            "translation": "flat",
            "completion": "cq2",
            "pages": "vi",
            "transfer": 4096,
            "packet": 4096,
        },
        "bvia2": {
            "doorbell": "d1_word",
            "descriptors": "dma",
            "translation": "at3",
            "completion": "cq1",
            "packet": 4096,
        },
        "hwvia": {"doorbell": "hw", "descriptors": "pio", "translation": "at2", "completion": "cq1"},
    }
)
"""What a preset chooses (readings C8); each choice may be set by itself beside it."""

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "preset": tuple(PRESETS),
        "doorbell": ("", "d2", "d1_word", "d1_ring", "hw"),
        "descriptors": ("", "pio", "ahead", "dma", "prefetch"),
        "translation": ("", "at1", "at2", "at3", "flat"),
        "completion": ("", "cq1", "cq2"),
        "pages": ("vi", "process"),
        "rdma": ("buffer", "table"),
    }
)
"""The words that an option knows; the empty one: as the preset says."""

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "vis": (2, via.VIS),
        "processes": (1, via.VIS),
        "packet": (64, via.MOST_PAYLOAD // 8 * 8),
        "inline": (0, via.MOST_INLINE),
        "outstanding": (1, 4096),
        "transfer": (1, 1 << 16),
        "send_words": (64, 1 << 16),
        "receive_words": (64, 1 << 12),
        "low_water": (0, 64),
        "regions": (16, 4096),
        "translation_entries": (1, 1 << 16),
        "translation_ways": (1, 64),
        "table_words": (256, 1 << 20),
        "write_combine": (0, 1),
        "queues": (1, 256),
        "timeout_us": (0, 1_000_000),
        "connect_us": (1, 1_000_000),
        "exact": (0, 1),
        "page_seed": (0, 1 << 31),
    }
)
"""Least and greatest value of each option that is a number."""


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    preset: str = "firmvia"
    """A set of choices that was built: `PRESETS`."""
    doorbell: str = ""
    """How the NIC learns of a posted descriptor (paper 001, 2.2.1). d2: the tail of a central queue that the kernel
    writes; d1_word, d1_ring: a word for each VI in a page of its process, one descriptor or several at a time; hw: a
    FIFO of the card."""
    descriptors: str = ""
    """How it gets the descriptor (2.2.2). pio: the host writes it into the NIC's memory; ahead: so too, and the NIC
    reads and checks receives as soon as they are posted; dma: it fetches it when it needs it; prefetch: receives as
    soon as they are posted."""
    translation: str = ""
    """Who translates addresses, and where the tables are (2.2.3). at1: the host's kernel, tables in host
    memory; at2: the NIC, tables in its memory; at3: the NIC, tables in host memory, entries in a cache. flat: nobody;
    memory that is registered is moved to where it is contiguous."""
    completion: str = ""
    """Completion queues (2.2.4). cq1: the NIC writes an entry by DMA; cq2: the library looks at the work queues."""
    pages: str = "process"
    """User-level doorbells: who has a page of the NIC for them, each VI for its pair, or each process for up to 256."""
    rdma: str = "buffer"
    """How an RDMA write finds its memory (3.2.2). buffer: by a buffer of the kernel, which copies; table: the NIC looks
    the page up in host memory."""
    vis: int = via.VIS
    """VIs of a NIC, the kernel agents' VI 0 among them."""
    processes: int = 8
    """Processes that can have doorbells of their own, where each has a page for them."""
    packet: int = 1024
    """Payload of a packet: a user's bytes (paper 001, 3.3.1)."""
    inline: int = via.INLINE
    """Messages of so many bytes at most are written into the queue instead of their addresses (3.3.2)."""
    outstanding: int = 256
    """Descriptors that are posted and not done, for each work queue (readings C7)."""
    transfer: int = 1 << 16
    """Bytes of a message at most (paper 001, 3.2.1)."""
    send_words: int = 2048
    """Words of the central send queue cache: room for 256 descriptors of a page (readings C13); a power of two."""
    receive_words: int = 128
    """Words of each VI's receive queue cache: room for 16 descriptors of a page and more; a power of two."""
    low_water: int = 4
    """With fewer descriptors than this in a receive queue cache, and more at the host, the NIC asks for a refill
    (readings C13)."""
    regions: int = 64
    """Registered memory regions of a host."""
    translation_entries: int = 1024
    """at3: entries of the NIC's cache."""
    translation_ways: int = 1
    """at3: entries of a set; 1: direct-mapped."""
    table_words: int = 1 << 16
    """at2: words of the NIC's memory for tables: 256 MB of pages."""
    write_combine: int = 0
    """Descriptors are written into the NIC's memory word by word (0), or in bursts (1)."""
    queues: int = 64
    """Completion queues of a host."""
    timeout_us: int = 5000
    """After so long without an answer a reliable connection counts as broken. Assumed: no paper gives it."""
    connect_us: int = 200
    """First wait until an unanswered message of a kernel agent is repeated; each later wait is twice as long, up to 32
    times the first. Assumed."""
    exact: int = 0
    """1: the NIC looks at the length of each packet to the byte. It looks for CRC-8 where whole words end, so a link
    that loses or adds characters of a packet whose data end with zeros is not always seen otherwise."""
    page_seed: int = 1
    """Scatters the physical pages of processes."""

    @property
    def user_level(self) -> bool:
        """Processes post without the kernel."""
        return self.doorbell != "d2"

    @property
    def written(self) -> bool:
        """The host writes descriptors into the NIC's memory."""
        return self.descriptors in ("pio", "ahead")

    @property
    def reads_ahead(self) -> bool:
        """The NIC reads receive descriptors when they are posted."""
        return self.descriptors in ("ahead", "prefetch")

    @property
    def polled(self) -> bool:
        """The NIC polls words of processes."""
        return self.doorbell.startswith("d1")

    def _fit(self) -> None:
        """Whether the choices go together. Raises OptionError."""
        if self.user_level != (self.translation != "at1"):
            what = f"via.doorbell={self.doorbell} with via.translation={self.translation}"
            cause = "a kernel that translates rings the doorbell too (d2), and one that does not is not entered"
            raise OptionError(what, cause, "take d2 with at1, the others with at2, at3 or flat")
        if self.descriptors != "pio" and not self.user_level:
            what = f"via.descriptors={self.descriptors} with via.doorbell=d2"
            raise OptionError(
                what, "the kernel's physical descriptors are written by PIO", "take d1_word, d1_ring or hw"
            )
        if self.pages == "vi" and self.user_level and self.doorbell != "d1_word":
            what = f"via.pages=vi with via.doorbell={self.doorbell}"
            raise OptionError(what, "its send queue has no room beside the doorbells", "take process, or d1_word")
        if self.translation_entries % self.translation_ways:
            what = f"via.translation_entries={self.translation_entries}"
            raise OptionError(what, f"makes no whole sets of {self.translation_ways}", "give a multiple of the ways")

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """Options from names and values, the preset's choices where none is given. Raises OptionError."""
        check_values("VIA", OptionError, given, RANGES, WORDS)
        chosen = {name: value for name, value in given.items() if value != ""}
        options = cls(**{**PRESETS[str(given.get("preset", "firmvia"))], **chosen})  # type: ignore[arg-type]
        for name in ("send_words", "receive_words"):
            words = getattr(options, name)
            if words & words - 1:
                raise OptionError(f"option {name}", f"{words} is not a power of two", "give one")
        options._fit()
        if options.packet % 8:
            raise OptionError("option packet", f"{options.packet} is not a multiple of 8", "round it")
        return options


OPTION_NAMES = tuple(field.name for field in fields(Options))
"""All options, in the order of the table."""
