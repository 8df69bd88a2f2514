"""The run-time options of `via`: one table of names, defaults and ranges for both sides of the PCI bus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import LayerOptions, OptionError, option
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


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    vis: int = option(via.VIS, "VIs of a NIC, the kernel agents' VI 0 among them", 2, via.VIS)
    processes: int = option(
        8, "Processes that can have doorbells of their own, where each has a page for them", 1, via.VIS
    )
    packet: int = option(1024, "Payload of a packet: a user's bytes (paper 001, 3.3.1)", 64, via.MOST_PAYLOAD // 8 * 8)
    inline: int = option(
        via.INLINE,
        "Messages of so many bytes at most are written into the queue instead of their addresses (3.3.2)",
        0,
        via.MOST_INLINE,
    )
    outstanding: int = option(
        256, "Descriptors that are posted and not done, for each work queue (readings C7)", 1, 4096
    )
    transfer: int = option(1 << 16, "Bytes of a message at most (paper 001, 3.2.1)", 1, 1 << 16)
    send_words: int = option(
        2048,
        "Words of the central send queue cache: room for 256 descriptors of a page (readings C13); a power of two",
        64,
        1 << 16,
    )
    receive_words: int = option(
        128,
        "Words of each VI's receive queue cache: room for 16 descriptors of a page and more; a power of two",
        64,
        1 << 12,
    )
    low_water: int = option(
        4,
        "With fewer descriptors than this in a receive queue cache, and more at the host, the NIC asks for a "
        "refill (readings C13)",
        0,
        64,
    )
    regions: int = option(64, "Registered memory regions of a host", 16, 4096)
    translation_entries: int = option(1024, "at3: entries of the NIC's cache", 1, 1 << 16)
    translation_ways: int = option(1, "at3: entries of a set; 1: direct-mapped", 1, 64)
    table_words: int = option(1 << 16, "at2: words of the NIC's memory for tables: 256 MB of pages", 256, 1 << 20)
    write_combine: int = option(
        0, "Descriptors are written into the NIC's memory word by word (0), or in bursts (1)", 0, 1
    )
    queues: int = option(64, "Completion queues of a host", 1, 256)
    timeout_us: int = option(
        5000,
        "After so long without an answer a reliable connection counts as broken. Assumed: no paper gives it",
        0,
        1_000_000,
    )
    connect_us: int = option(
        200,
        "First wait until an unanswered message of a kernel agent is repeated; each later wait is twice as "
        "long, up to 32 times the first. Assumed",
        1,
        1_000_000,
    )
    exact: int = option(
        0,
        "1: the NIC looks at the length of each packet to the byte. It looks for CRC-8 where whole words end, "
        "so a link that loses or adds characters of a packet whose data end with zeros is not always seen "
        "otherwise",
        0,
        1,
    )
    page_seed: int = option(1, "Scatters the physical pages of processes", 0, 1 << 31)
    preset: str = option("firmvia", "A set of choices that was built: `PRESETS`", choices=tuple(PRESETS))
    doorbell: str = option(
        "",
        "How the NIC learns of a posted descriptor (paper 001, 2.2.1). d2: the tail of a central queue that "
        "the kernel writes; d1_word, d1_ring: a word for each VI in a page of its process, one descriptor or "
        "several at a time; hw: a FIFO of the card",
        choices=("", "d2", "d1_word", "d1_ring", "hw"),
    )
    descriptors: str = option(
        "",
        "How it gets the descriptor (2.2.2). pio: the host writes it into the NIC's memory; ahead: so too, "
        "and the NIC reads and checks receives as soon as they are posted; dma: it fetches it when it needs "
        "it; prefetch: receives as soon as they are posted",
        choices=("", "pio", "ahead", "dma", "prefetch"),
    )
    translation: str = option(
        "",
        "Who translates addresses, and where the tables are (2.2.3). at1: the host's kernel, tables in host "
        "memory; at2: the NIC, tables in its memory; at3: the NIC, tables in host memory, entries in a cache. "
        "flat: nobody; memory that is registered is moved to where it is contiguous",
        choices=("", "at1", "at2", "at3", "flat"),
    )
    completion: str = option(
        "",
        "Completion queues (2.2.4). cq1: the NIC writes an entry by DMA; cq2: the library looks at the work queues",
        choices=("", "cq1", "cq2"),
    )
    pages: str = option(
        "process",
        "User-level doorbells: who has a page of the NIC for them, each VI for its pair, or each process for up to 256",
        choices=("vi", "process"),
    )
    rdma: str = option(
        "buffer",
        "How an RDMA write finds its memory (3.2.2). buffer: by a buffer of the kernel, which copies; table: "
        "the NIC looks the page up in host memory",
        choices=("buffer", "table"),
    )

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

    @classmethod
    def completed(cls, given: Mapping[str, float | str]) -> Mapping[str, float | str]:
        """Return the values with the preset's choices where they are not given, or empty."""
        chosen = {name: value for name, value in given.items() if value != ""}
        return {**PRESETS[str(given.get("preset", cls.preset))], **chosen}

    def check(self) -> None:
        """Raise OptionError for sizes of the wrong form, and for choices that exclude each other."""
        for name in ("send_words", "receive_words"):
            words = getattr(self, name)
            if words & words - 1:
                raise OptionError(f"option {name}", f"{words} is not a power of two", "give one")
        self._check_choices()
        if self.packet % 8:
            raise OptionError("option packet", f"{self.packet} is not a multiple of 8", "round it")

    def _check_choices(self) -> None:
        """Raise OptionError for choices that exclude each other."""
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
