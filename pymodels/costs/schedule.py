"""Issue times of a path's instructions on a processor with delayed, interlocked loads."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass
class Schedule:
    """In-order issue of one instruction a clock; an instruction stalls while a load of a register that it uses is
    pending.

    No load is pending at the start of a path, and loads pending at its end cause no stall.
    """

    delay: int
    """Load delay: clocks that an instruction directly after its load stalls."""
    stalls: int = 0
    """Stall clocks so far."""
    _clock: int = 0
    _ready: dict[str, int] = field(default_factory=dict)
    """Clock from which each register is available."""

    def issue(self, uses: AbstractSet[str] = frozenset(), brings: str = "") -> None:
        """Issue one instruction; `brings` is the register that it loads."""
        ready = max((self._ready.get(register, 0) for register in uses), default=0)
        waited = max(ready - self._clock, 0)
        self.stalls += waited
        self._clock += waited + 1
        if brings:
            self._ready[brings] = self._clock + self.delay
