"""LANai NIC of the machine: special registers, engines, PCI side of the card. Each kind of LANai is a subclass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pymodels.machine.card import Card
from pymodels.machine.doorbell import Doorbells
from pymodels.machine.host_dma import HostDma
from pymodels.machine.memory import Memory
from pymodels.machine.net_receive import NetReceive
from pymodels.machine.net_send import NetSend
from pymodels.machine.network import ModelNetwork
from pymodels.machine.processor import ModelProcessor
from pymodels.machine.special import SpecialRegisters
from pymodels.machine.world import World
from pymodels.registers import Reg


class Transfers(Protocol):
    """DMA engine between SRAM and host memory."""

    host_memory: Memory
    check_grant: Callable[[int, int], None]


class ModelNic(ModelProcessor):
    """NIC that satisfies the protocol `firmware.verbs.Nic`, with its engines, `sram`, `special` (registers) and `card`
    (PCI).
    """

    watched = Reg.ISR
    registers = SpecialRegisters
    """Class of the special registers."""

    def __init__(self, world: World, node: int, sram_bytes: int, network: ModelNetwork) -> None:
        super().__init__(world, node, sram_bytes)
        self.special: SpecialRegisters = self.registers(world, self._watched_changed, self._drive_line)
        change = self.special.change
        self.send = NetSend(world, node, self.sram, network, change)
        self.receive = NetReceive(world, node, self.sram, change, self.word_bytes)
        self.dma = HostDma(world, node, self.sram, change)
        self.transfers: dict[str, Transfers] = {"host DMA": self.dma}
        """Engines that access host memory, by name."""
        self.doorbells = Doorbells(world, node, self.sram, change)
        self.special.connect(self.send, self.receive, self.dma, self.doorbells)
        self.card = Card(world, node, self.sram, self.special)
        self.card.connect(self.receive, self.dma, self.doorbells)
        self.card.on_reset = self._reset

    def connect(self, host_memory: Memory, check_grant: Callable[[int, int], None]) -> None:
        """Connect the engines to the host's memory, and to the check of the addresses that they access."""
        for dma in self.transfers.values():
            dma.host_memory = host_memory
            dma.check_grant = check_grant

    def _reset(self) -> None:
        self.send.reset()
        self.halt()

    def _drive_line(self, level: bool) -> None:
        self.card.interrupt(level)
