"""Hand-written samples for monitors, without a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from pymodels.pci.rules import Sample
from tb.monitors.pci import CONFLICT, FRAME, GNT, PAR, PAR64, REQ
from tb.monitors.samples import Decoder

HIGH = (1 << 64) - 1


class Store:
    """Store that passes samples to its monitor at once."""

    def __init__(self) -> None:
        self.decode: Decoder = lambda times, low, high, lanes: None
        self.live_units: list[int] = []

    def add(self, unit: int, decode: Decoder) -> None:
        """Remember the decoder."""
        self.decode = decode

    def live(self, unit: int) -> None:
        """Note the unit."""
        self.live_units.append(unit)

    def drain(self) -> None:
        """Do nothing: there is no backlog."""


def pci_wires(sample: Sample) -> tuple[int, int]:
    """Return the two words of the wires of a bus."""
    controls = ("frame", "irdy", "trdy", "devsel", "stop", "req64", "ack64")
    fields = asdict(sample)
    asserted = {FRAME + bit: fields[name] for bit, name in enumerate(controls)}
    high = HIGH & ~0xFF & ~(0xFFFF << GNT) & ~(0xFFFF << REQ) | sample.cbe
    high |= (~sample.gnt & 0xFFFF) << GNT | (~sample.req & 0xFFFF) << REQ
    for bit, down in {**asserted, PAR: not sample.par, PAR64: not sample.par64, CONFLICT: not sample.conflict}.items():
        high = high & ~(1 << bit) if down else high | 1 << bit
    return sample.ad, high


def shown(
    samples: Sequence[tuple[int, int]], period: int, first: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
    """Return the samples of a monitor for wires at successive clock edges: those that differ from the edge before."""
    changed = [n for n, wires in enumerate(samples) if n == 0 or wires != samples[n - 1]]
    times = np.array([(first + n) * period for n in changed], np.int64)
    low, high = (np.array([samples[n][word] for n in changed], np.uint64) for word in (0, 1))
    return times, low, high, np.zeros(len(changed), np.int32)
