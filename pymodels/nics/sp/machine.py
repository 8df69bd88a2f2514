"""SP adapter of the machine: the processor's verbs, the engines behind its registers, the PCI side of its card."""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.doorbell import Doorbells
from pymodels.machine.memory import Memory
from pymodels.machine.network import ModelNetwork
from pymodels.machine.processor import ModelProcessor
from pymodels.machine.window import Window
from pymodels.machine.world import World
from pymodels.nics.sp.left import LeftEngine
from pymodels.nics.sp.packets import ReceiveBuffer, SendSide
from pymodels.nics.sp.registers import SpControl, SpReg
from pymodels.nics.sp.special import SpRegisters
from pymodels.registers import Pci


class ModelSpNic(ModelProcessor):
    """NIC that satisfies the protocol `firmware.verbs.Nic`, with `sram`, `special` (registers, engines) and `card` (PCI
    side).
    """

    kind = "sp"
    watched = SpReg.STATUS

    def __init__(self, world: World, node: int, sram_bytes: int, network: ModelNetwork) -> None:
        super().__init__(world, node, sram_bytes)
        bells = Doorbells(world, node, self.sram, self._bell)
        self.receive = ReceiveBuffer(world, node, self._change)
        self.left = LeftEngine(world, node, self.receive, self._change, self._interrupt)
        self._send = SendSide(world, node, network, self.left, self._change)
        self.send = self._send.engine
        self.special: SpRegisters = SpRegisters(world, self.left, self._send, self.receive, bells, self._change)
        self.card = SpWindow(world, node, self.sram, self.special, bells)

    def connect(self, host_memory: Memory, check_grant: Callable[[int, int], None]) -> None:
        """Connect the left engine to the host's memory, and to the check of the addresses that it accesses."""
        self.left.host_memory, self.left.check_grant = host_memory, check_grant

    def _change(self) -> None:
        """Continue waiting packets and notify polling loops after a possible change of STATUS."""
        self._send.go_on()
        self._watched_changed()

    def _bell(self, raised: int, cleared: int) -> None:
        """Handle a stored or lost doorbell entry."""
        self._change()

    def _interrupt(self) -> None:
        """Execute ALARM."""
        self.special.interrupting = True
        self.card.interrupt(True)


class SpWindow(Window):
    """PCI side of the adapter: SRAM, control register, doorbells."""

    def __init__(self, world: World, node: int, sram: Memory, special: SpRegisters, bells: Doorbells) -> None:
        super().__init__(world, node, sram)
        special.drive = self._drive
        self._special = special
        self._bells = bells

    def _drive(self, level: bool) -> None:
        self.interrupt(level)

    def _write_word(self, offset: int, value: int) -> None:
        if offset >= Pci.DOORBELL:
            self._bells.ring(offset, value)
        elif offset != Pci.CONTROL:
            raise self._nothing("write", offset)
        elif value >> SpControl.INTERRUPT & 1:
            self._special.interrupting = False
            self.interrupt(False)

    def _read_word(self, offset: int) -> int:
        if offset != Pci.CONTROL:
            raise self._nothing("read", offset)
        return int(self._special.interrupting) << SpControl.INTERRUPT


NIC = ModelSpNic
