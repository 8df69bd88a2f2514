"""Everything about a kind of NIC, in one object.

A kind is a folder `pymodels/nics/<name>` whose `kind.py` has a `KIND`, an instance of a subclass of `NicKind`. What
depends on the NIC asks that object, which `pymodels.hardware.discover` finds by its name: no other place names a kind.
The rest of it stands under the same name and is found the same way: `machine.py` beside `kind.py` is the NIC of the
pure-Python machine, `tb/nics/<name>.py` its verbs on the RTL; its RTL stands in `hdl/nic/<name>`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from pymodels.cards import CardMap
from pymodels.costs.targets import Target
from pymodels.hardware.processors import NicProcessor
from pymodels.hardware.schema import Key
from pymodels.hardware.value import Values
from pymodels.settings import Setting


@dataclass(frozen=True)
class Network:
    """The links and switches that a kind of NIC is for."""

    capture_type: int
    """Link type of `packets.pcapng`."""
    hdl_switch: Mapping[str, int]
    """Parameters of `sim_switch` that choose the switch."""
    pipeline: int
    """Characters from a route byte on `rx` to the first on `tx` of an idle switch whose FALL_THROUGH is 0."""
    ports: int = 0
    """Ports that every switch has; 0: any number."""
    route_bytes: int = 0
    """Switches that a route leads through at most; 0: any number."""
    switch: str = "a switch"
    """What messages call such a switch, with its article."""
    chunk: int = 0
    """Bytes of a chunk of the queue that all outputs of a switch share; 0: there is none."""

    def switch_settings(self, values: Values) -> dict[int, int]:
        """What a switch needs beside its links. FALL_THROUGH counts clocks beyond the switch's own pipeline."""
        chunks = values.integer("switch.central_queue") // self.chunk if self.chunk else 0
        beyond = values.fall_through_characters() - self.pipeline
        return {int(Setting.FALL_THROUGH): max(beyond, 0), int(Setting.CENTRAL_CHUNKS): chunks}


@dataclass(frozen=True)
class NicKind(ABC):
    """One kind of NIC. A subclass says what it has, its `KIND` with which numbers."""

    name: str
    """The name of its folders, and `kind` of its profiles."""
    title: str
    """What messages call it, with its article."""
    network: Network
    sram_bytes: int
    """Size of the card's memory in the machine, where nobody gives another."""
    hdl_card: str
    """The module that stands in a node of the RTL; all have the same ports, those of `sim_lanai9_card`."""
    target: Target | None = None
    """The processor for which its firmware is compiled; None: it has no processor, so there is no firmware of it, and
    no table of costs."""
    boots: bool = True
    """The driver takes it out of reset when it is loaded."""
    one_clock: bool = False
    """The NIC and the PCI bus have one clock."""
    invariants: Mapping[int, str] = field(default_factory=dict)
    """What must not happen in its modules alone, in words, by the CODE of their `sim_invariant`, from `OWN` on."""
    keys: tuple[Key, ...] = field(default=(), repr=False)
    """Values of its profiles beside those that every NIC has."""

    @abstractmethod
    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        """Where the regions of a card with so much memory stand. `values`: of the profile, where there is one."""

    @abstractmethod
    def settings(self, values: Values) -> dict[int, int]:
        """Run-time settings of its RTL beside those of link ports and PCI."""

    def processor(self, values: Values) -> NicProcessor | None:
        """What its processor takes for each kind of access; None: it has none."""
        return NicProcessor.of(values) if self.target is not None else None

    def disagreement(self, values: Values) -> tuple[str, str] | None:
        """Values that are each possible but not together on this NIC, as (cause, remedy); None when there are none."""
        return None
