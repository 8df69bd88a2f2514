"""Surroundings of a host's polling loop in the simulator: other software and hardware that may act."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from pymodels.kernel import Kernel
from tb.bind.cpu import Cpu
from tb.sim.doorway import Doorway


class Around:
    """Implementation of `pymodels.host.ahead.Repeats` on the RTL."""

    executes = True

    def __init__(
        self, doorway: Doorway, kernel: Kernel, cpu: Cpu, clocks: Sequence[int], processor: int, pattern: int
    ) -> None:
        """Bind the surroundings of one host's loops.

        Args:
            doorway: Doorway of the simulation.
            kernel: Event loop.
            cpu: CPU of the host.
            clocks: Clocks of the bus and of the device that is read over it.
            processor: Unit of the NIC's processor, whose SRAM accesses contend with those of the loop.
            pattern: Number of turns after which the loop's pattern repeats.
        """
        lib = doorway.lib
        self.grid_ps = lcm(*(lib.dw_period(clock) for clock in clocks))
        self.pattern = pattern
        self._kernel, self._cpu, self._processor = kernel, cpu, processor
        self._quiet_until, self._again = lib.dw_quiet_until, lib.dw_again
        self._records = doorway.exchange.trace_count
        self._uses, self._met = (doorway.words(f"dw_{name}_count", 1, "Q") for name in ("use", "met"))

    def quiet_until(self) -> int:
        software = 0 if self._cpu.in_use else self._kernel.quiet_until()
        return min(software, self._quiet_until(self._processor)) if software > self._kernel.now else 0

    def mark(self) -> tuple[int, ...]:
        return self._records[0], self._uses[0], self._met[0]

    def again(self, mark: tuple[int, ...], period_ps: int, times: int) -> bool:
        return bool(self._again(*mark, period_ps, times))
