"""Run-time options of `via`, for NIC and host."""

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
"""Choices of each preset (readings C8); options given beside a preset override them."""


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options of `via`."""

    vis: int = option(via.VIS, "VIs of a NIC, including the kernel agents' VI 0", 2, via.VIS)
    processes: int = option(8, "Processes with user-level doorbells, with one page a process", 1, via.VIS)
    packet: int = option(1024, "Payload of a packet: a user's bytes (paper 001, 3.3.1)", 64, via.MOST_PAYLOAD // 8 * 8)
    inline: int = option(
        via.INLINE,
        "Maximum size in bytes of messages written into the queue instead of their addresses (3.3.2)",
        0,
        via.MOST_INLINE,
    )
    outstanding: int = option(256, "Descriptors posted and not completed, per work queue (readings C7)", 1, 4096)
    transfer: int = option(1 << 16, "Maximum message size in bytes (paper 001, 3.2.1)", 1, 1 << 16)
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
        "Number of descriptors in a receive queue cache below which the NIC requests a "
        "refill, if more wait at the host (readings C13)",
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
        "Time without an acknowledgement after which a reliable connection is broken. Assumed: not in the papers",
        0,
        1_000_000,
    )
    connect_us: int = option(
        200,
        "First retransmission time-out of a kernel agent's message; each later one is twice as "
        "long, up to 32 times the first. Assumed",
        1,
        1_000_000,
    )
    exact: int = option(
        0,
        "1: the NIC checks the length of each packet to the byte. 0: it reads CRC-8 where whole words end, "
        "and may accept a packet whose data end with zeros and of which a link has lost or added "
        "characters",
        0,
        1,
    )
    page_seed: int = option(1, "Seed of the physical placement of processes' pages", 0, 1 << 31)
    preset: str = option("firmvia", "Set of choices of a published implementation: `PRESETS`", choices=tuple(PRESETS))
    doorbell: str = option(
        "",
        "Doorbell for posted descriptors (paper 001, 2.2.1). d2: the tail of a central queue that "
        "the kernel writes; d1_word, d1_ring: a word for each VI in a page of its process, one descriptor or "
        "several at a time; hw: a FIFO of the card",
        choices=("", "d2", "d1_word", "d1_ring", "hw"),
    )
    descriptors: str = option(
        "",
        "Transfer of descriptors (2.2.2). pio: the host writes them into the NIC's memory; ahead: as pio, "
        "and the NIC reads and checks receives as soon as they are posted; dma: the NIC fetches them when "
        "needed; prefetch: as dma, but receives as soon as they are posted",
        choices=("", "pio", "ahead", "dma", "prefetch"),
    )
    translation: str = option(
        "",
        "Translation of addresses (2.2.3). at1: by the host's kernel, tables in host "
        "memory; at2: by the NIC, tables in its memory; at3: by the NIC, tables in host memory, cached entries; "
        "flat: none; registered memory is moved to contiguous frames",
        choices=("", "at1", "at2", "at3", "flat"),
    )
    completion: str = option(
        "",
        "Completion queues (2.2.4). cq1: the NIC writes an entry by DMA; cq2: the library polls the work queues",
        choices=("", "cq1", "cq2"),
    )
    pages: str = option(
        "process",
        "Pages of the NIC for user-level doorbells. vi: one a VI; process: one a process, for up to 256 VIs",
        choices=("vi", "process"),
    )
    rdma: str = option(
        "buffer",
        "Target side of RDMA writes (3.2.2). buffer: a buffer of the kernel, which copies; table: "
        "the NIC reads the page frame from a table in host memory",
        choices=("buffer", "table"),
    )

    @property
    def user_level(self) -> bool:
        """True if processes post without the kernel."""
        return self.doorbell != "d2"

    @property
    def written(self) -> bool:
        """True if the host writes descriptors into the NIC's memory."""
        return self.descriptors in ("pio", "ahead")

    @property
    def reads_ahead(self) -> bool:
        """True if the NIC reads receive descriptors when they are posted."""
        return self.descriptors in ("ahead", "prefetch")

    @property
    def polled(self) -> bool:
        """True if the NIC polls words of processes."""
        return self.doorbell.startswith("d1")

    @classmethod
    def completed(cls, given: Mapping[str, float | str]) -> Mapping[str, float | str]:
        """Return the values, completed by the preset's choices for options that are missing or empty."""
        chosen = {name: value for name, value in given.items() if value != ""}
        return {**PRESETS[str(given.get("preset", cls.preset))], **chosen}

    def check(self) -> None:
        """Raise OptionError for sizes of invalid form, and for choices that exclude each other."""
        for name in ("send_words", "receive_words"):
            words = getattr(self, name)
            if words & words - 1:
                raise OptionError(f"option {name}", f"{words} is not a power of two", "give a power of two")
        self._check_choices()
        if self.packet % 8:
            raise OptionError("option packet", f"{self.packet} is not a multiple of 8", "give a multiple of 8")

    def _check_choices(self) -> None:
        """Raise OptionError for choices that exclude each other."""
        if self.user_level != (self.translation != "at1"):
            what = f"via.doorbell={self.doorbell} with via.translation={self.translation}"
            cause = "d2 and at1 both use the kernel, and are valid only together"
            raise OptionError(what, cause, "use d2 with at1, and the other doorbells with at2, at3 or flat")
        if self.descriptors != "pio" and not self.user_level:
            what = f"via.descriptors={self.descriptors} with via.doorbell=d2"
            raise OptionError(what, "with d2 the kernel writes descriptors by PIO", "use d1_word, d1_ring or hw")
        if self.pages == "vi" and self.user_level and self.doorbell != "d1_word":
            what = f"via.pages=vi with via.doorbell={self.doorbell}"
            raise OptionError(
                what, "the page of a VI has room for the send queue of d1_word only", "use pages=process, or d1_word"
            )
        if self.translation_entries % self.translation_ways:
            what = f"via.translation_entries={self.translation_entries}"
            raise OptionError(
                what, f"not a multiple of via.translation_ways={self.translation_ways}", "give a multiple of it"
            )
