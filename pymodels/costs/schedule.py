"""When the instructions of a path are executed, where a load's datum comes some clocks late and who uses it waits."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass
class Schedule:
    """One instruction a clock, in order. An instruction waits while the datum of a register that it uses is under way.

    At the start of a path no load is under way; what its last loads bring, nobody waits for.
    """

    delay: int
    """Clocks that the datum is late: an instruction right behind its load waits so many."""
    stalls: int = 0
    """Clocks waited so far."""
    _clock: int = 0
    _ready: dict[str, int] = field(default_factory=dict)
    """The clock from which a register may be used."""

    def issue(self, uses: AbstractSet[str] = frozenset(), brings: str = "") -> None:
        """Execute one instruction. `brings`: the register that it loads."""
        ready = max((self._ready.get(register, 0) for register in uses), default=0)
        waited = max(ready - self._clock, 0)
        self.stalls += waited
        self._clock += waited + 1
        if brings:
            self._ready[brings] = self._clock + self.delay
