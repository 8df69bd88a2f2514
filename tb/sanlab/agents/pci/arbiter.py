"""Round-robin arbiter of a PCI bus, for agents and masters of the design."""

from __future__ import annotations

from typing import Any

from .bus import PciBus
from .pins import BusSample


class PciArbiter:
    """Arbiter that grants in turn, while the current transaction continues, and parks the bus.

    Masters are numbered: those of the design's `req_n` first, then the agents in the order of their creation.

    Args:
        bus: Bus.
        clock: PCI clock.
        reset: Reset, or None.
        park: Master that has GNT# on a bus without requests; None: the last master.
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        grants: Number of grants to each master, by its number.
    """

    def __init__(
        self, bus: PciBus, clock: Any, reset: Any = None, *, park: int | None = 0, reset_active_level: bool = True
    ) -> None:
        self.bus = bus
        self.grants: dict[int, int] = {}
        self._park = park
        self._restart()
        bus.requests.arbitrated = True
        bus.hooks.append(self._step)
        bus.resets.append(self._restart)
        bus.start(clock, reset, reset_active_level)

    def _restart(self) -> None:
        self._owner: int | None = None
        self._next: int | None = None
        self._started = False

    def _step(self, sample: BusSample) -> None:
        """Decide on the grant that the masters see at the next clock edge."""
        requests = self.bus.requests
        if not requests.granted:
            self._grant(self._choose(sample.req) if self._next is None else self._next)
            return
        self._started |= sample.first
        owns = bool(requests.granted & sample.req)
        chosen = self._choose(sample.req)
        if chosen == self._owner or (owns and not self._started):
            return
        if self.bus.idle:  # a clock without GNT#, since two masters must not start at once
            self._next, requests.granted = chosen, 0
        else:
            self._grant(chosen)

    def _choose(self, req: int) -> int | None:
        """Return the next requesting master after the owner, or the one to park on."""
        count = self.bus.requests.masters
        last = self._owner if self._owner is not None else count - 1
        for step in range(1, count + 1):
            master = (last + step) % count
            if req >> master & 1:
                return master
        return self._owner if self._park is None else self._park

    def _grant(self, master: int | None) -> None:
        self._next, self._owner, self._started = None, master, False
        self.bus.requests.granted = 0 if master is None else 1 << master
        if master is not None:
            self.grants[master] = self.grants.get(master, 0) + 1
