"""SRAM addresses of the C firmware's variables: `struct ni` of ni.h, whose fields are words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from firmware.grim.formats import TOKENS
from firmware.grim.nic.channels import DONE
from firmware.grim.nic.layout import Layout
from firmware.verbs import Nic

BOARD_BYTES, BOARD_COUNT = 64, 4
"""Size of `struct board` in bytes; BOARD_COUNT is the offset of its number of used entries."""
ENTRY_WORDS = 4
"""Words of a `struct entry`: offset; size and stream; sequence, state and rejection flag, a byte each; unused."""
BUFFER_FREE = 4
"""Offset of the `free` flag in `struct buffer`."""


@cache
def offsets() -> Mapping[str, int]:
    """Return the byte offset of each field of `struct ni`."""
    header = Path(__file__).with_name("ni.h").read_text(encoding="utf-8")
    body = re.sub(r"/\*.*?\*/", "", header.partition("struct ni {")[2].partition("};")[0], flags=re.DOTALL)
    found, at = {}, 0
    for name, count in re.findall(r"(\w+)(?:\[(\d+)\])?\s*[,;]", body):
        found[name] = at
        at += 4 * int(count or 1)
    return found


class Variables:
    """Variables of a NIC that executes the C firmware, by their names in ni.h."""

    def __init__(self, nic: Nic, layout: Layout) -> None:
        self._nic, self._layout = nic, layout

    def __getitem__(self, name: str) -> int:
        return self._nic.load(self._layout.counters + offsets()[name])

    def boards(self) -> list[int]:
        """Return the used scoreboard entries of each channel, then of the NI's own channel."""
        first, count = self["boards"], self["channel_count"] + 1
        return [self._nic.load(first + BOARD_BYTES * board + BOARD_COUNT) for board in range(count)]

    def streams(self) -> list[tuple[int, int, int]]:
        """Return messages in flight, waiting messages, and the retry-delay flag of each stream."""
        words = self._nic.load_words(self._layout.outgoing, self._layout.streams)
        return [(word >> 16 & 0xFF, word >> 8 & 0xFF, word & 1) for word in words]

    def refused(self) -> list[int]:
        """Return the streams with a message that was rejected and is not acknowledged yet."""
        words = self._nic.load_words(self._layout.scoreboard, ENTRY_WORDS * TOKENS)
        entries = zip(words[1::ENTRY_WORDS], words[2::ENTRY_WORDS], strict=True)
        return sorted({sizes & 0xFFFF for sizes, word in entries if word >> 16 & 0xFF != DONE and word >> 8 & 0xFF})

    def buffers_taken(self) -> int:
        """Return the number of receive buffers that hold a packet. The armed buffer counts as free."""
        return int(not self["armed"]) + int(not self._nic.load(self["other"] + BUFFER_FREE))
