"""Kind of NIC: everything that depends on the NIC, in one object.

A kind is a folder `pymodels/nics/<name>` whose `kind.py` defines `KIND`, an instance of a subclass of `NicKind`.
`pymodels.hardware.discover` finds it by name; no other code names a kind. Further parts are found by the same name:
`machine.py` beside `kind.py` (the NIC of the pure-Python machine), `tb/nics/<name>.py` (its verbs on the RTL) and
`hdl/nic/<name>` (its RTL).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from pymodels.cards import CardMap
from pymodels.costs.targets import Target
from pymodels.hardware.processors import NicProcessor
from pymodels.hardware.schema import Key
from pymodels.hardware.sram import SramPorts
from pymodels.hardware.value import Values
from pymodels.settings import Setting


@dataclass(frozen=True)
class Network:
    """Links and switches that a kind of NIC connects to."""

    capture_type: int
    """Link type of `packets.pcapng`."""
    hdl_switch: Mapping[str, int]
    """Parameters of `sim_switch` that select the switch."""
    pipeline: int
    """Latency of an idle switch with FALL_THROUGH = 0: characters from a route byte on `rx` to the first on `tx`."""
    ports: int = 0
    """Number of ports of every switch; 0 = any."""
    route_bytes: int = 0
    """Maximum number of switches on a route; 0 = unlimited."""
    switch: str = "a switch"
    """Name of such a switch in messages, with article."""
    chunk: int = 0
    """Chunk size in bytes of the queue shared by all outputs of a switch; 0 = no such queue."""

    def switch_settings(self, values: Values) -> dict[int, int]:
        """Return the settings of a switch except those of its links. FALL_THROUGH counts clocks beyond the switch's
        pipeline.
        """
        chunks = values.integer("switch.central_queue") // self.chunk if self.chunk else 0
        beyond = values.fall_through_characters() - self.pipeline
        return {int(Setting.FALL_THROUGH): max(beyond, 0), int(Setting.CENTRAL_CHUNKS): chunks}


@dataclass(frozen=True)
class NicKind(ABC):
    """Kind of NIC. A subclass defines its features, its `KIND` the numbers."""

    name: str
    """Name of its folders, and `kind` of its profiles."""
    title: str
    """Name in messages, with article."""
    network: Network
    sram_bytes: int
    """Default size of the card's memory in the machine."""
    hdl_card: str
    """Module that is instantiated in a node of the RTL; its ports are those of `sim_lanai9_card`."""
    target: Target | None = None
    """Processor for which its firmware is compiled; None for a NIC without processor, firmware and cost tables."""
    boots: bool = True
    """True if the driver takes the NIC out of reset when it is loaded."""
    one_clock: bool = False
    """True if the NIC runs on the clock of the PCI bus."""
    board: int = 0
    """Number of the kind in the identity of an FPGA board; 0 if no board holds it."""
    commands: bool = False
    """True if records of its host DMA name commands by their numbers, and its packets do not pass through memory."""
    invariants: Mapping[int, str] = field(default_factory=dict)
    """Descriptions of violations in its own modules, by the CODE of their `sim_invariant`, from `OWN` on."""
    sram_ports: SramPorts | None = None
    """Requesters of its SRAM in a run with monitors; None if its card has no monitor of the SRAM."""
    keys: tuple[Key, ...] = field(default=(), repr=False)
    """Keys of its profiles in addition to those of every NIC."""

    @abstractmethod
    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        """Return the address map of a card with this memory size; `values` are those of the profile, if there
        is one.
        """

    @abstractmethod
    def settings(self, values: Values) -> dict[int, int]:
        """Return the run-time settings of its RTL except those of link ports and PCI."""

    def processor(self, values: Values) -> NicProcessor | None:
        """Return the access costs of its processor; None for a NIC without processor."""
        return NicProcessor.from_profile(values) if self.target is not None else None

    def disagreement(self, values: Values) -> tuple[str, str] | None:
        """Return cause and remedy for values that are valid alone but inconsistent on this NIC; None if they are
        consistent.
        """
        return None
