"""What every part of a machine shares: the kernel that owns time, the delays, the trace, and the costs of software."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.kernel import Kernel
from pymodels.machine.log import TraceLog
from pymodels.machine.spin import Spin
from pymodels.machine.timing import CostLookup, Timing


@dataclass(frozen=True)
class World:
    """One machine's surroundings, handed to each of its parts."""

    kernel: Kernel
    timing: Timing
    log: TraceLog
    cost: CostLookup
    spin: type[Spin] = Spin
    """What polling loops are."""
