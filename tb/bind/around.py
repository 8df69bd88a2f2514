"""What is around a loop of a host in the simulator: software and hardware that may act, and what they leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from pymodels.kernel import Kernel
from tb.bind.cpu import Cpu
from tb.sim.doorway import Doorway


class Around:
    """Satisfies `pymodels.host.ahead.Repeats` by shape."""

    executes = True

    def __init__(
        self, doorway: Doorway, kernel: Kernel, cpu: Cpu, clocks: Sequence[int], processor: int, pattern: int
    ) -> None:
        """`clocks` of the bus and of what is read over it; the unit of the NIC's `processor`, whose accesses of SRAM
        meet the loop's.
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
