"""Conversion of a path's instruction counts into clocks, for the processors of NICs and hosts."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.costs.walk import PathCost
from pymodels.hardware.value import Values


@dataclass(frozen=True)
class NicProcessor:
    """Processor of a NIC: additional clocks of a store and of an uncached access beyond the one clock of an
    instruction.
    """

    load: int
    """Latency of a load in clocks; an instruction that needs the value earlier waits."""
    store: int
    uncached: int
    instructions_per_fetch: int
    """Instructions fetched by one SRAM access; 0 if they come from a cache."""
    cached: bool = False
    """True if loads and stores use a cache too, so that only uncached accesses compete with DMA."""
    work_scale: float = 1.0
    """Factor of the clocks and SRAM accesses of compiled instructions."""

    @classmethod
    def from_profile(cls, values: Values) -> NicProcessor:
        """Return the processor described by the values of a NIC profile; a kind of NIC may refine it."""
        load, store, uncached = (values.integer(f"processor.{key}_clocks") for key in ("load", "store", "uncached"))
        per_fetch, scale = values.integer("processor.instructions_per_fetch"), values.number("processor.work_scale")
        return cls(load, store, uncached, per_fetch, work_scale=scale)


@dataclass(frozen=True)
class HostProcessor:
    """Processor of a host: clocks of an instruction, and additional clocks of each kind of access."""

    instruction: float
    load: float
    store: float
    uncached: float

    @classmethod
    def from_profile(cls, profile: Values) -> HostProcessor:
        """Return the host processor described by a profile."""
        return cls(*(profile.number(f"host.{key}_clocks") for key in ("instruction", "load", "store", "uncached")))


@dataclass(frozen=True)
class Charge:
    """Cost of a path on a NIC processor: clocks without contention, and number of accesses that a DMA can delay.

    The accesses are those of the SRAM, or, on a processor with a cache, those of the bus to it.
    """

    clocks: int
    accesses: int


def nic_charge(cost: PathCost, processor: NicProcessor, times: int = 1) -> Charge:
    """Return clocks and SRAM accesses of `times` executions of a path.

    An uncached access that a verb issues is not an instruction of the path; the verb's own clock is its first. The
    processor makes at most one SRAM access in a clock, including its fetches. Uncached accesses are those of the
    program, whatever its compiler, so their clocks are not scaled.
    """
    per_fetch = processor.instructions_per_fetch
    fetches = -(-cost.instructions // per_fetch) if per_fetch else 0
    accesses = fetches + (cost.uncached if processor.cached else cost.loads + cost.stores)
    compiled = cost.instructions + cost.waits(processor.load) + cost.stores * processor.store
    uncached = cost.uncached * processor.uncached
    if processor.work_scale != 1:
        compiled = round(compiled * processor.work_scale)
        accesses = round(accesses * processor.work_scale)
    return Charge(times * max(compiled + uncached, accesses), times * accesses)


def host_clocks(cost: PathCost, processor: HostProcessor, times: int = 1) -> float:
    """Return the clocks of `times` executions of a path on the host's CPU."""
    further = cost.loads * processor.load + cost.stores * processor.store + cost.uncached * processor.uncached
    return times * (cost.instructions * processor.instruction + further)
