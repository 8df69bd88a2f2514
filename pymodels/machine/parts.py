"""What the machine asks of a NIC, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pymodels.machine.memory import Memory
from pymodels.machine.network import ModelNetwork, ReceiverEnd, SenderEnd
from pymodels.machine.world import World


class Face(Protocol):
    """The PCI side of a card, by offsets in its region."""

    sram_bytes: int
    interrupt: Callable[[bool], None]
    """The host's interrupt line, connected by the machine."""

    def write(self, offset: int, data: bytes) -> None:
        """A burst of stores arrives: whole words at ascending addresses."""

    def read(self, offset: int) -> int:
        """A load of one word arrives."""


class MachineNic(Protocol):
    """A NIC of the machine."""

    node: int
    sram_bytes: int

    @property
    def card(self) -> Face:
        """Its PCI side."""

    @property
    def send(self) -> SenderEnd:
        """The engine that puts packets into the network."""

    @property
    def receive(self) -> ReceiverEnd:
        """The engine that takes packets out of it."""

    def connect(self, host_memory: Memory, check_grant: Callable[[int, int], None]) -> None:
        """Connect its engines to the memory of its host, and to the check of which addresses they may access."""


MakeNic = Callable[[World, int, int, ModelNetwork], MachineNic]
"""A NIC for a node, with so many bytes of memory, on a network: `NIC` of `pymodels/nics/<kind>/machine.py`."""
