"""Reference model of the configuration of a card: the image in each slot, and whether the whole device is configured.

A card loads one image at a time, and its driver returns in this order. So each load finds the state that the previous
one has left.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodels.card.fabric import Circuit, images
from pymodels.card.image import HEADER, Verdict, judge
from pymodels.card.registers import SLOTS, WHOLE_DEVICE, Load


class Configuration:
    """Slots of one card."""

    def __init__(self, circuits: Sequence[Circuit]) -> None:
        """Start with the first image, which the driver loads when it enables the card."""
        self._circuits = circuits
        self.slots: list[str | None] = [images(circuits)[0]] * SLOTS
        self._configured = True

    def places(self, image: str) -> list[int | None]:
        """Return the parts of an image that a file may have: None for the whole device, and its slots."""
        return [None, *sorted(one.slot for one in self._circuits if one.image == image)]

    def may_empty(self, data: bytes) -> frozenset[str] | None:
        """Return the circuits that a file may clear; None for all."""
        emptied = judge(data, self._circuits, True).emptied
        return None if len(emptied) == SLOTS else frozenset(one.name for one in self._circuits if one.slot in emptied)

    def load(self, data: bytes) -> Verdict:
        """Return the outcome of a file that the card has taken now, and change the slots."""
        verdict = judge(data, self._circuits, self._configured)
        for slot in verdict.emptied:
            self.slots[slot] = None
        for slot in verdict.loaded:
            self.slots[slot] = images(self._circuits)[verdict.number - 1]
        if verdict.emptied and _is_whole(data):
            self._configured = verdict.outcome == Load.DONE
        return verdict


def _is_whole(data: bytes) -> bool:
    kind = int(HEADER.unpack_from(data)[1])
    return kind >> 8 & 0xFF == WHOLE_DEVICE
