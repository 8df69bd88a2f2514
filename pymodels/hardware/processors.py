"""From the counts of a path to clocks, on the processors of NICs and hosts."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.costs.walk import PathCost
from pymodels.hardware.value import Values


@dataclass(frozen=True)
class NicProcessor:
    """A NIC's processor: what a store, an uncached access add to the one clock of their instruction."""

    load: int
    """Clocks that the datum of a load comes late: an instruction that needs it earlier waits."""
    store: int
    uncached: int
    instructions_per_fetch: int
    """Instructions that one SRAM access fetches; 0: they come from a cache."""
    cached: bool = False
    """Loads and stores stay in a cache too; what others can delay are the uncached accesses."""

    @classmethod
    def of(cls, values: Values) -> NicProcessor:
        """The processor of a NIC profile, as its values stand there (a kind of NIC may know more)."""
        load, store, uncached = (values.integer(f"processor.{key}_clocks") for key in ("load", "store", "uncached"))
        return cls(load, store, uncached, values.integer("processor.instructions_per_fetch"))


@dataclass(frozen=True)
class HostProcessor:
    """A host's processor: the clocks of an instruction, and what each kind of access adds to them."""

    instruction: float
    load: float
    store: float
    uncached: float

    @classmethod
    def of(cls, profile: Values) -> HostProcessor:
        """The host's processor of a profile."""
        return cls(*(profile.number(f"host.{key}_clocks") for key in ("instruction", "load", "store", "uncached")))


@dataclass(frozen=True)
class Charge:
    """What the NIC processor needs for a path: clocks without contention, and accesses that a DMA can delay.

    They are accesses of the SRAM; where that is cached, of the bus that leads there.
    """

    clocks: int
    accesses: int


def nic_charge(cost: PathCost, processor: NicProcessor, times: int = 1) -> Charge:
    """Clocks and SRAM accesses of a path, `times` times over.

    An uncached access that a verb issues is no instruction of the path; the verb's own clock is its first.
    The processor makes at most one SRAM access in a clock, its fetches included.
    """
    per_fetch = processor.instructions_per_fetch
    fetches = -(-cost.instructions // per_fetch) if per_fetch else 0
    accesses = fetches + (cost.uncached if processor.cached else cost.loads + cost.stores)
    further = cost.waits(processor.load) + cost.stores * processor.store + cost.uncached * processor.uncached
    return Charge(times * max(cost.instructions + further, accesses), times * accesses)


def host_clocks(cost: PathCost, processor: HostProcessor, times: int = 1) -> float:
    """Clocks of a path on the host's CPU, `times` times over."""
    further = cost.loads * processor.load + cost.stores * processor.store + cost.uncached * processor.uncached
    return times * (cost.instructions * processor.instruction + further)
