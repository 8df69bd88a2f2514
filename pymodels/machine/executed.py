"""Firmware that a NIC of the machine executes, instruction by instruction, in the place of a coroutine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pymodels.lanai.chips import Chip
from pymodels.lanai.clocks import Clocks, Pace, Spent
from pymodels.lanai.ports import CoreError
from pymodels.lanai.program import Program
from pymodels.lanai.simulator import Core, Step
from pymodels.lanai.stopped import LAST, Stopped
from pymodels.machine.memory import Memory
from pymodels.machine.nic import ModelNic
from pymodels.machine.processor import ModelProcessor

Watch = Callable[[Step, Spent], None]
"""Is told an instruction and its clocks."""


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


def unwatched(step: Step, spent: Spent) -> None:
    """Nobody looks at what is executed."""


async def execute(nic: ModelProcessor, program: Program, chip: Chip, watch: Watch = unwatched) -> None:
    """Put a program into the SRAM and execute it for ever."""
    nic.sram.write(program.base, program.data + bytes(program.zeros))
    await run(nic, program, chip, watch)


def boots(nic: ModelNic, program: Program, chip: Chip) -> None:
    """Let a NIC execute what its host has loaded, whenever that releases it from reset. `program` names functions."""

    def begin() -> None:
        nic.spawn(run(nic, program, chip), "firmware")

    nic.card.on_release = begin


async def run(nic: ModelProcessor, program: Program, chip: Chip, watch: Watch = unwatched) -> None:
    """Execute the program in the SRAM for ever, in the clocks that the core in RTL takes when nobody else
    wants the SRAM: its accesses do not compete with the engines. `watch` is told every instruction.

    Raises CoreError for what the processor does not define, which says where it stands and what it did last.
    """
    port = SramPort(nic.sram)
    core = Core(port, nic.chip, chip, program.entry)
    clocks = Clocks(nic.core or Pace(chip.load_delay, nic.word_bytes), program.entry)
    last = deque[int](maxlen=LAST)
    try:
        while True:
            step = core.step()
            last.append(step.pc)
            spent = clocks.step(step)
            watch(step, spent)
            if step.access is not None and not step.access.register:
                nic.sram.accesses["processor"] += 1
            await nic.take(spent.clocks)
    except CoreError as error:
        stopped = Stopped(program, error.address, core.registers, last, lambda at: port.load(at, 4))
        raise stopped.error(nic.node, error.named, error.cause, error.remedy, error.fault) from None
