"""Firmware that a NIC of the machine executes, instruction by instruction, in the place of a coroutine."""

from __future__ import annotations

from pymodels.lanai.chips import Chip
from pymodels.lanai.program import Program
from pymodels.lanai.simulator import Core
from pymodels.machine.memory import Memory
from pymodels.machine.processor import ModelProcessor


class SramPort:
    """A NIC's SRAM as its processor's core sees it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.size = memory.size

    def load(self, address: int, size: int) -> int:
        """The bytes at an address."""
        return int.from_bytes(self.memory.data[address : address + size], "big")

    def store(self, address: int, value: int, size: int) -> None:
        """Write bytes; polling loops notice."""
        self.memory.write(address, value.to_bytes(size, "big"))


async def execute(nic: ModelProcessor, program: Program, chip: Chip) -> None:
    """Put a program into the SRAM and execute it for ever: a clock of the NIC an instruction, and the waits for loads.

    Fetches do not compete with the engines. Raises CoreError for what the processor does not define.
    """
    nic.sram.write(program.base, program.data + bytes(program.zeros))
    core = Core(SramPort(nic.sram), nic.special, chip, program.entry, program.symbol)
    while True:
        before = core.clocks
        step = core.step()
        if step.access is not None and not step.access.register:
            nic.sram.accesses["processor"] += 1
        await nic.take(core.clocks - before)
