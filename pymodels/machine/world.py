"""Resources shared by all parts of a machine: kernel, delays, trace, path costs."""

from __future__ import annotations

from dataclasses import dataclass, field

from pymodels.kernel import Kernel
from pymodels.machine.log import TraceLog
from pymodels.machine.spin import Spin
from pymodels.machine.timing import CostLookup, Timing
from pymodels.messages import Messages


@dataclass(frozen=True)
class World:
    """Resources shared by all parts of one machine, passed to each of them."""

    kernel: Kernel
    timing: Timing
    log: TraceLog
    cost: CostLookup
    spin: type[Spin] = Spin
    """Class of polling loops."""
    messages: Messages = field(default_factory=Messages)
