"""Execution of machine code by a NIC of the machine, in place of a firmware coroutine."""

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
"""Function that is called with each executed instruction and its clocks."""


class SramPort:
    """Interface of the processor core to the NIC's SRAM."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.size = memory.size

    def load(self, address: int, size: int) -> int:
        """Return the bytes at an address as a number."""
        return int.from_bytes(self.memory.data[address : address + size], "big")

    def store(self, address: int, value: int, size: int) -> None:
        """Write the lowest `size` bytes of a value and notify polling loops."""
        self.memory.write(address, value.to_bytes(size, "big"))


def unwatched(step: Step, spent: Spent) -> None:
    """Ignore an executed instruction."""


async def execute(nic: ModelProcessor, program: Program, chip: Chip, watch: Watch = unwatched) -> None:
    """Load a program into the SRAM and execute it for ever."""
    nic.sram.write(program.base, program.data + bytes(program.zeros))
    await run(nic, program, chip, watch)


def boots(nic: ModelNic, program: Program, chip: Chip) -> None:
    """Make a NIC execute the program in its SRAM whenever the host releases it from reset; `program` supplies
    symbols.
    """

    def begin() -> None:
        nic.spawn(run(nic, program, chip), "firmware")

    nic.card.on_release = begin


async def run(nic: ModelProcessor, program: Program, chip: Chip, watch: Watch = unwatched) -> None:
    """Execute the program in the SRAM for ever, with the clocks of the RTL core without contention for the SRAM.

    `watch` is called with every instruction. Raises CoreError, with the position and the last instructions, for an
    undefined action.
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
