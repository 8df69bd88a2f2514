"""Images that a card must reject, loaded while messages are in flight.

The outcome must be that of the reference model (`pymodels.card.image.judge`). A file with an invalid header changes
nothing. One with damaged or missing frames empties the slots, so that circuits lose their state until another image is
loaded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from firmware.grim.host.card_images import METHODS, LoadError
from pymodels.card.fabric import Circuit
from pymodels.card.image import HEADER, build, judge
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.circuits import Load
from tb.studies.cards.fuzz.ledger import Ledger
from tb.studies.grim.fuzz.mail import FOREVER
from tb.studies.grim.fuzz.node import Node

BYTES = 640
"""Bytes of the frames of an image, as in the settings of the fuzz test."""


def _header(data: bytes, field: int, mask: int) -> bytes:
    """Return a file with changed bits in a word of its header, which has a correct CRC."""
    words = list(HEADER.unpack_from(data))
    words[field] ^= mask
    head = struct.pack(f">{len(words) - 1}I", *words[:-1])
    return head + struct.pack(">I", zlib.crc32(head)) + data[HEADER.size :]


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "no image": lambda data: _flip(data, 0),
    "damaged header": lambda data: _flip(data, 9),
    "other card": lambda data: _header(data, 1, 1 << 24),
    "other circuits": lambda data: _header(data, 2, 1),
    "no number": lambda data: _header(data, 1, 0x7F),
    "part of a header": lambda data: data[:12],
    "missing frames": lambda data: data[:-64],
    "damaged frame": lambda data: _flip(data, len(data) // 2),
    "damaged end": lambda data: _flip(data, len(data) - 1),
}
"""Changes of a file that a card must reject."""


class BadImages:
    """Acts of a node on the configuration port of its card."""

    def __init__(self, node: Node, ledger: Ledger, circuits: tuple[Circuit, ...], now: Callable[[], int]) -> None:
        self.node, self._ledger, self._circuits, self._now = node, ledger, circuits, now

    async def do_card_bad_image(self, act: Act) -> None:
        """Load a file that must be rejected."""
        card: Any = self.node.library.card
        image = card.images[act.whole("image") % len(card.images)]
        data = DAMAGES[str(act.values["damage"])](build(self._circuits, image, None, BYTES).pack())
        verdict = judge(data, self._circuits, True)
        load = Load(self._now(), FOREVER)
        if verdict.emptied:
            self._ledger.loads[self.node.index].append(load)
        try:
            await card.load(data, method=METHODS[act.whole("way") % len(METHODS)])
            self.node.wrong(f"{act} was not rejected")
        except LoadError as error:
            if (error.outcome, error.taken) != (verdict.outcome, verdict.taken):
                self.node.wrong(f"{act}: {error.outcome.name} after {error.taken} bytes, expected {verdict}")
        load.ended = self._now()
