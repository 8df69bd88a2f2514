"""Invariants of every run, monitored by hardware signals: an event is a failure with a name and a time."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from pymodels.kernel import Kernel
from pymodels.trace import unit_name
from pymodels.waiting import Wait
from tb.sim.doorway import Doorway
from tb.sim.exchange import UNITS

INVARIANT_UNIT = UNITS
"""Unit of the events of violated invariants, above the units of the cluster."""


class Broken(IntEnum):
    """Codes of invariant events (hdl/sim/probe/sim_invariant.sv); each NIC kind has some of its own."""

    SLACK_OVERFLOW = 64
    CRC_BAD = 65
    RX_LOST = 66
    DMA_ERROR = 67
    DOORBELL_OVERFLOW = 68
    SEND_MISUSE = 69
    BUS_CONFLICT = 70
    FORWARD_RESET = 71
    ILLEGAL = 72
    PIO_MISUSE = 73
    BANK_PATIENCE = 74
    MAILBOX = 75
    TRESPASS = 76
    CENTRAL_QUEUE = 79
    BRIDGE_LOST = 80
    LINK_DOWN = 81


WORDS: dict[int, str] = {
    Broken.SLACK_OVERFLOW: "slack buffer overflow, a character was lost",
    Broken.CRC_BAD: "packet with a wrong CRC-8",
    Broken.RX_LOST: "packet dropped at a NIC in reset or by the network time-out",
    Broken.DMA_ERROR: "host DMA ended by a PCI abort",
    Broken.DOORBELL_OVERFLOW: "doorbell FIFO overflow",
    Broken.SEND_MISUSE: "send limit written while the engine was not ready",
    Broken.BUS_CONFLICT: "two agents drove one PCI signal",
    Broken.FORWARD_RESET: "packet cut by the long time-out",
    Broken.ILLEGAL: "illegal control symbol",
    Broken.PIO_MISUSE: "programmed I/O to an unused address of the card",
    Broken.BANK_PATIENCE: "the bus waits too long for a bank (packet: its number) that the FPGA holds",
    Broken.MAILBOX: "control mailbox of the FPGA card is not read; its FPGA may not be configured",
    Broken.CENTRAL_QUEUE: "central queue of a switch exceeds its limit",
    Broken.TRESPASS: "a circuit uses bank 3 without a grant",
    Broken.BRIDGE_LOST: "the bridge met a PCI abort (packet: 1 on the bus of the cards, 0 on the NIC's)",
    Broken.LINK_DOWN: "link down, three BEATs in a row are missing",
}
LINK_FAULTS = {
    Broken.CRC_BAD,
    Broken.SLACK_OVERFLOW,
    Broken.FORWARD_RESET,
    Broken.ILLEGAL,
    Broken.RX_LOST,
    Broken.LINK_DOWN,
}
POWER_FAULTS = {Broken.DMA_ERROR}
"""Invariants that a card without power breaks."""


class Invariants:
    """Collector of broken invariants. Those explained by injected faults are counted and do not fail the run."""

    def __init__(self, doorway: Doorway, kernel: Kernel, own: Mapping[int, str] = MappingProxyType({})) -> None:
        """Register the event handler; `own` describes the invariants of the NIC kind by code."""
        self._broken: list[tuple[int, str]] = []
        self._words = {**WORDS, **own}
        self.explained: dict[str, int] = {}
        self.faults_expected = False
        self.power_lost = False
        """True if a card loses its power in the run."""
        self.allowed: set[Broken] = set()
        """Kinds that the study provokes on purpose."""
        self.first: tuple[int, list[str], list[Wait]] | None = None
        """First violation: its time in ps, the waiting tasks, and the waits with their holders."""
        self._kernel = kernel
        doorway.on_event(INVARIANT_UNIT, self._on_event)

    @property
    def broken(self) -> list[str]:
        """Descriptions of broken invariants that no injected fault explains."""
        return [line for _, line in self._broken]

    def by_name(self) -> dict[str, tuple[list[str], int]]:
        """Return the descriptions of unexplained violations, and the number of explained ones, by invariant."""
        common, found = {int(code) for code in Broken}, {}
        for code, text in self._words.items():
            name = Broken(code).name.lower() if code in common else text.partition(":")[0]
            broken = [line for kind, line in self._broken if kind == code]
            found[name.replace("_", " ")] = (broken, self.explained.get(name, 0))
        return found

    def explain_link_faults(self) -> None:
        """Treat all link faults, past and future, as explained by injected faults."""
        self.faults_expected = True
        self._broken = [(kind, line) for kind, line in self._broken if kind not in LINK_FAULTS]

    def _on_event(self, time: int, code: int, a: int, b: int) -> None:
        explained = (self.faults_expected and code in LINK_FAULTS) or (self.power_lost and code in POWER_FAULTS)
        if code in self.allowed or explained:
            name = Broken(code).name.lower()
            self.explained[name] = self.explained.get(name, 0) + 1
        else:
            self.first = self.first or (time, self._kernel.waiting(), self._kernel.waits_held())
            where, when = unit_name(a), f"{time / 1e6:.3f} us"
            self._broken.append((code, f"{where}: {self._words[code]} at {when} (packet {b & 0xFFFFFFFF:#010x})"))
