"""The committed counts of a message layer's paths, by name, and what they come to in clocks.

No other place of the program knows a cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pymodels.costs.assembly import CostError
from pymodels.costs.targets import LANAI, POWERPC
from pymodels.costs.walk import PathCost
from pymodels.errors import nearest
from pymodels.profiles import Profile
from pymodels.toml import read_toml

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
NICS: Mapping[str, tuple[str, ...]] = {LANAI.table: ("lanai9", "lanai4"), POWERPC.table: ("sp",)}
"""Kinds of NIC by the table of costs that a layer needs to run on them."""


@dataclass(frozen=True)
class PathTable:
    """The counted paths of one side of a message layer."""

    name: str
    paths: Mapping[str, PathCost]
    compiled: Mapping[str, str]
    """Where the counts come from: origin, target, compiler, flags, sources_sha256."""

    @classmethod
    def load(cls, side: str, layer: str, firmware: Path = FIRMWARE, table: str = "costs.toml") -> PathTable:
        """Read firmware/<side>/<layer>/costs.toml, or the `table` of another processor.

        Raises CostError when it is missing or malformed.
        """
        file = firmware / side / layer / table
        name = f"{side}/{layer}"
        if not file.exists() and (file.parent / "costs.toml").exists():
            kinds = [kind for other, kinds in NICS.items() if (file.parent / other).exists() for kind in kinds]
            remedy = f"choose a profile of a NIC that it runs on, PROFILE={' or '.join(kinds)}"
            raise CostError(f"layer {name!r}", f"is not compiled for this NIC ({table})", remedy)
        if not file.exists():
            known = [f"{path.parent.parent.name}/{path.parent.name}" for path in firmware.glob("*/*/costs.toml")]
            raise CostError(f"layer {name!r}", "has no table of compiled costs", nearest(name, known))
        data, _ = read_toml(file)
        try:
            paths = {path: PathCost(**fields) for path, fields in data["path"].items()}
            return cls(name, paths, dict(data["compiled"]))
        except (KeyError, TypeError, AttributeError) as error:
            remedy = "run python -m pymodels.costs.compile"
            raise CostError(str(file), f"is no table of costs ({error})", remedy) from error

    @classmethod
    def of_nic(cls, layer: str, kind: str = "lanai9") -> PathTable:
        """A layer's NIC side on a kind of NIC, and the paths of `firmware/nic/hardware` that every layer may use."""
        table = next(table for table, kinds in NICS.items() if kind in kinds)
        own, shared = (cls.load("nic", one, table=table) for one in (layer, "hardware"))
        return cls(own.name, {**shared.paths, **own.paths}, own.compiled)

    def cost(self, path: str) -> PathCost:
        """The cost of a path. Raises CostError naming the nearest path."""
        try:
            return self.paths[path]
        except KeyError:
            cause = f"is not in the compiled costs of {self.name}"
            raise CostError(f"path {path!r}", cause, nearest(path, self.paths)) from None


def bus_beat(profile: Profile) -> int:
    """Clocks of the NIC that a beat keeps the internal bus of an SP adapter: one of its own."""
    return math.ceil(profile.integer("internal_bus.period_ps") / profile.integer("clock.nic_ps"))


def bus_access(profile: Profile) -> int:
    """Clocks of the NIC that an access of processor or host keeps it: address and data."""
    return 2 * bus_beat(profile)


@dataclass(frozen=True)
class NicProcessor:
    """A NIC's processor: what a load, a store, an uncached access add to the one clock of their instruction."""

    load: int
    store: int
    uncached: int
    instructions_per_fetch: int
    """Instructions that one SRAM access fetches; 0: they come from a cache."""
    cached: bool = False
    """Loads and stores stay in a cache too; what others can delay are the uncached accesses (SP adapter)."""

    @classmethod
    def of(cls, profile: Profile) -> NicProcessor:
        """The NIC's processor of a profile."""
        load, store, uncached = (profile.integer(f"processor.{key}_clocks") for key in ("load", "store", "uncached"))
        fetch = profile.integer("processor.instructions_per_fetch")
        cached = profile.kind == "sp"
        return cls(load, store, uncached + (bus_access(profile) if cached else 0), fetch, cached)


@dataclass(frozen=True)
class HostProcessor:
    """A host's processor: the clocks of an instruction, and what each kind of access adds to them."""

    instruction: float
    load: float
    store: float
    uncached: float

    @classmethod
    def of(cls, profile: Profile) -> HostProcessor:
        """The host's processor of a profile."""
        return cls(*(profile.number(f"host.{key}_clocks") for key in ("instruction", "load", "store", "uncached")))


@dataclass(frozen=True)
class Charge:
    """What the NIC processor needs for a path: clocks when nobody disturbs it, and accesses that a DMA can delay.

    They are accesses of the SRAM, on the SP adapter of its internal bus.
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
    further = cost.loads * processor.load + cost.stores * processor.store + cost.uncached * processor.uncached
    return Charge(times * max(cost.instructions + further, accesses), times * accesses)


def host_clocks(cost: PathCost, processor: HostProcessor, times: int = 1) -> float:
    """Clocks of a path on the host's CPU, `times` times over."""
    further = cost.loads * processor.load + cost.stores * processor.store + cost.uncached * processor.uncached
    return times * (cost.instructions * processor.instruction + further)
