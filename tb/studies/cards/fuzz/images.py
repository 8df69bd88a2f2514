"""Images of the whole device or of one slot, also damaged ones, loaded while messages are in flight.

The outcome must be that of the reference model (`configuration.py`). A file with an invalid header changes nothing. One
with damaged or missing frames empties its slots, so that circuits lose their state until another image is loaded. After
an incomplete image of the whole device the card rejects those of a slot.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from firmware.grim.host.card_images import METHODS, LoadError
from firmware.grim.host.errors import CardPowerError
from pymodels.card.fabric import Circuit
from pymodels.card.image import HEADER, build
from pymodels.card.registers import Load as Outcome
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.circuits import Load
from tb.studies.cards.fuzz.configuration import Configuration
from tb.studies.cards.fuzz.ledger import Ledger
from tb.studies.grim.fuzz.mail import FOREVER
from tb.studies.grim.fuzz.node import Node

BYTES, SLOT_BYTES = 640, 320
"""Bytes of the frames of an image, and of that of a slot, as in the settings of the fuzz test."""

ROUND_PS = 400_000_000
"""Time between two images that a driver loads for waiting messages, ps."""


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


class Images:
    """Acts of a node on the configuration port of its card."""

    def __init__(self, node: Node, ledger: Ledger, circuits: tuple[Circuit, ...], now: Callable[[], int]) -> None:
        self.node, self._ledger, self._circuits, self._now = node, ledger, circuits, now
        self._configuration = Configuration(circuits)

    async def drive(self, over: Callable[[], bool]) -> None:
        """Run the driver: load the images for which messages wait, within a bounded time."""
        turn = 0
        while not over():
            await self.node.host.sleep(ROUND_PS, "the driver's next poll")
            turn += 1
            if self._ledger.has_power(self.node.index):
                await self._load("an image of the driver", self._file(turn, 0), 0)

    async def do_card_load(self, act: Act) -> None:
        """Load an image of the whole device or of one slot, regardless of messages in flight."""
        if not self._ledger.has_power(self.node.index):
            return
        data = self._file(act.whole("image"), act.whole("part"))
        await self.node.beside(self._load(str(act), data, act.whole("way")), str(act))

    async def do_card_bad_image(self, act: Act) -> None:
        """Load a file that must be rejected."""
        if not self._ledger.has_power(self.node.index):
            return
        data = DAMAGES[str(act.values["damage"])](self._file(act.whole("image"), act.whole("part")))
        await self.node.beside(self._load(str(act), data, act.whole("way")), str(act))

    async def do_card_slots(self, act: Act) -> None:
        """Compare the image of each slot with the reference model."""
        await self.node.beside(self._compare(str(act)), str(act))

    async def _compare(self, act: str) -> None:
        found = list(await self._card.slots())
        if found != self._configuration.slots:
            self.node.wrong(f"{act}: the slots have {found}, expected {self._configuration.slots}")

    def _interrupted(self, load: Load) -> bool:
        """Return True if the card may have lost its power while an image was loaded."""
        return any(one.doubts(load.begun, load.ended) for one in self._ledger.outages[self.node.index])

    def restart(self) -> None:
        """Record that the card has been started again, with its first image."""
        self._configuration = Configuration(self._circuits)

    @property
    def _card(self) -> Any:
        return self.node.library.card

    def _file(self, image: int, part: int) -> bytes:
        name = self._card.images[image % len(self._card.images)]
        places = self._configuration.places(name)
        slot = places[part % len(places)]
        return build(self._circuits, name, slot, BYTES if slot is None else SLOT_BYTES).pack()

    async def _load(self, what: str, data: bytes, way: int) -> None:
        """Load a file, and compare the outcome with the reference model."""
        load = Load(self._now(), FOREVER, self._configuration.may_empty(data))
        self._ledger.loads[self.node.index].append(load)
        outcome, taken = Outcome.DONE, 0
        try:
            await self._card.load(data, method=METHODS[way % len(METHODS)])
        except LoadError as error:
            outcome, taken = error.outcome, error.taken
        except CardPowerError as error:
            if not self._interrupted(load):
                self.node.wrong(f"{what}: {error}")
        load.ended = self._now()
        if self._interrupted(load):
            return
        verdict = self._configuration.load(data)
        if outcome != verdict.outcome or (outcome != Outcome.DONE and taken != verdict.taken):
            self.node.wrong(f"{what}: {outcome.name} after {taken} bytes, expected {verdict}")
