"""The committed counts of a message layer's paths, by name. Costs are defined nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodels.costs.assembly import CostError
from pymodels.costs.targets import LANAI, TARGETS, Target
from pymodels.costs.walk import PathCost
from pymodels.errors import nearest
from pymodels.roots import place, roots
from pymodels.toml import read_toml


@dataclass(frozen=True)
class PathTable:
    """The counted paths of one side of a message layer."""

    name: str
    paths: Mapping[str, PathCost]
    compiled: Mapping[str, str]
    """Where the counts come from: origin, target, compiler, flags, sources_sha256."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """By path the table that it is of, where that is another one: several layers run on one processor."""

    @classmethod
    def load(cls, side: str, layer: str, firmware: Path | None = None, table: str = "costs.toml") -> PathTable:
        """Read firmware/<side>/<layer>/costs.toml, or the `table` of another processor.

        A layer that charges nothing there has no `paths.c`, and an empty table. Raises CostError when it is missing or
        malformed.
        """
        folder = place(f"firmware/{side}/{layer}") if firmware is None else firmware / side / layer
        file = folder / table
        name = f"{side}/{layer}"
        if not file.exists() and (file.parent / "costs.toml").exists():
            known = [one.name for one in TARGETS[side] if (file.parent / one.table).exists()]
            remedy = f"choose the profile of a NIC whose processor it is compiled for: {' or '.join(known)}"
            raise CostError(f"layer {name!r}", f"is not compiled for this NIC ({table})", remedy)
        if not file.exists() and not (file.parent / "paths.c").exists() and file.parent.is_dir():
            return cls(name, {}, {})
        if not file.exists():
            known = [f"{path.parent.parent.name}/{path.parent.name}" for path in _tables(firmware)]
            raise CostError(f"layer {name!r}", "has no table of compiled costs", nearest(name, known))
        data, _ = read_toml(file)
        try:
            paths = {path: _cost(fields) for path, fields in data["path"].items()}
            return cls(name, paths, dict(data["compiled"]))
        except (KeyError, TypeError, AttributeError) as error:
            remedy = "run python -m pymodels.costs.compile"
            raise CostError(str(file), f"is no table of costs ({error})", remedy) from error

    @classmethod
    def of_nic(cls, layer: str, target: Target | None = LANAI) -> PathTable:
        """A layer's NIC side on the processor of a NIC, and the paths of `firmware/nic/hardware` that every layer may
        use. Raises CostError when it is not compiled for it, or when the NIC has none.
        """
        if target is None:
            raise CostError(f"layer 'nic/{layer}'", "this NIC has no processor", "choose another layer, or PROFILE")
        own, shared = (cls.load("nic", one, table=target.table) for one in (layer, "hardware"))
        return cls(own.name, {**shared.paths, **own.paths}, own.compiled)

    @classmethod
    def together(cls, tables: Sequence[PathTable]) -> PathTable:
        """The tables of several layers that run on one processor. Raises CostError for a path that two of them have."""
        paths: dict[str, PathCost] = {}
        owners: dict[str, str] = {}
        for table in tables:
            for path, cost in table.paths.items():
                if path in paths:
                    cause = f"is one of {owners[path]} and one of {table.name}, which run on one processor"
                    raise CostError(f"path {path!r}", cause, "rename one")
                paths[path], owners[path] = cost, table.owner(path)
        return cls(" and ".join(table.name for table in tables), paths, tables[0].compiled, owners)

    def owner(self, path: str) -> str:
        """The name of the table that a path is of."""
        return self.owners.get(path, self.name)

    def cost(self, path: str) -> PathCost:
        """The cost of a path. Raises CostError naming the nearest path."""
        try:
            return self.paths[path]
        except KeyError:
            cause = f"is not in the compiled costs of {self.name}"
            raise CostError(f"path {path!r}", cause, nearest(path, self.paths)) from None


def _cost(fields: Mapping[str, Any]) -> PathCost:
    """A path's cost from its line of a table."""
    return PathCost(**{**fields, "stalls": tuple(fields.get("stalls", ()))})


def _tables(firmware: Path | None) -> Iterator[Path]:
    for folder in [root / "firmware" for root in roots()] if firmware is None else [firmware]:
        yield from folder.glob("*/*/costs.toml")
