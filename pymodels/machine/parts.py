"""Interfaces of the machine to a NIC of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pymodels.machine.memory import Memory
from pymodels.machine.network import ModelNetwork, ReceiverEnd, SenderEnd
from pymodels.machine.world import World


class Face(Protocol):
    """PCI side of a card, by offsets in its region."""

    sram_bytes: int
    interrupt: Callable[[bool], None]
    """Interrupt line of the host, connected by the machine."""

    def write(self, offset: int, data: bytes) -> None:
        """Handle a burst of stores: whole words at ascending addresses."""

    def read(self, offset: int) -> int:
        """Return one word for a load."""


class MachineNic(Protocol):
    """NIC of the machine."""

    node: int
    sram_bytes: int

    @property
    def card(self) -> Face:
        """PCI side of the NIC."""

    @property
    def send(self) -> SenderEnd:
        """Send engine."""

    @property
    def receive(self) -> ReceiverEnd:
        """Receive engine."""

    def connect(self, host_memory: Memory, check_grant: Callable[[int, int], None]) -> None:
        """Connect the engines to the host's memory, and to the check of the addresses that they access."""


MakeNic = Callable[[World, int, int, ModelNetwork], MachineNic]
"""Constructor of a NIC, with world, node, memory size in bytes and network: `NIC` of `pymodels/nics/<kind>/machine.py`.
"""
