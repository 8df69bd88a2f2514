"""Cost tables: the committed counts of a message layer's paths, by name. No other code defines costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pymodels import generated
from pymodels.costs.assembly import CostError
from pymodels.costs.compositions import key
from pymodels.costs.sources import check
from pymodels.costs.targets import I686, LANAI, TARGETS, Target
from pymodels.costs.walk import PathCost
from pymodels.errors import nearest
from pymodels.roots import place, roots
from pymodels.toml import parsed


@dataclass(frozen=True)
class PathTable:
    """Counted paths of one side of a message layer."""

    name: str
    paths: Mapping[str, PathCost]
    compiled: Mapping[str, str]
    """Provenance of the counts: origin, target, compiler, flags, sources_sha256."""
    composition: str = ""
    """Name of the layer's composition (`pymodels.costs.compositions`)."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Paths that this composition lacks, each with a composition that has it."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Name of the original table of each path, in a table of several layers that run on one processor."""

    @classmethod
    def load(
        cls,
        side: str,
        layer: str,
        firmware: Path | None = None,
        table: str = "costs.toml",
        composition: Iterable[str] = (),
    ) -> PathTable:
        """Return the cost table of one side of a layer. A layer that charges nothing there has no `paths.c` and an
        empty table.

        Args:
            side: "nic" or "host".
            layer: Name of the layer.
            firmware: Folder of the layers; None to search all roots.
            table: File name, which selects the processor.
            composition: Parts of the layer's composition; empty for the bare one.

        Raises:
            CostError: The table is missing or malformed, or the composition is not compiled.
            StaleError: The table does not match the C sources.
        """
        folder = place(f"firmware/{layer}/{side}") if firmware is None else firmware / layer / side
        file = folder / table
        name = f"{layer}/{side}"
        text = generated.found(file)
        if text is None and (file.parent / "costs.toml").exists():
            known = [one.name for one in TARGETS[side] if (file.parent / one.table).exists()]
            part = {"nic": "NIC", "host": "host"}[side]
            remedy = f"choose the profile of a {part} whose processor it is compiled for: {' or '.join(known)}"
            raise CostError(f"layer {name!r}", f"is not compiled for this {part} ({table})", remedy)
        if text is None and not (file.parent / "paths.c").exists() and file.parent.is_dir():
            return cls(name, {}, {})
        if text is None:
            known = [f"{path.parent.parent.name}/{path.parent.name}" for path in _tables(firmware)]
            raise CostError(f"layer {name!r}", "has no table of compiled costs", nearest(name, known))
        target = next(one for one in TARGETS[side] if one.table == table)
        others = folder / target.composed
        composed = generated.found(others) or ""
        found = _read(file, text, composed, name, key(composition))
        check(file, found.compiled, target)
        if composed:
            check(others, _parsed(others, composed)["compiled"], target)
        return found

    @classmethod
    def of_nic(cls, layer: str, target: Target | None = LANAI, composition: Iterable[str] = ()) -> PathTable:
        """Return the NIC-side table of a layer, with the paths of `firmware/common/nic` that every layer may use.

        Raises CostError if the layer is not compiled for the target, or if the NIC has no processor (`target` is None).
        """
        if target is None:
            raise CostError(f"layer '{layer}/nic'", "this NIC has no processor", "choose another layer, or PROFILE")
        shared = cls.load("nic", "common", table=target.table)
        own = cls.load("nic", layer, table=target.table, composition=composition)
        return replace(own, paths={**shared.paths, **own.paths})

    @classmethod
    def of_host(cls, layer: str, target: Target = I686, composition: Iterable[str] = ()) -> PathTable:
        """Return the host-side table of a layer. Raises CostError if the layer is not compiled for the target."""
        return cls.load("host", layer, table=target.table, composition=composition)

    @classmethod
    def together(cls, tables: Sequence[PathTable]) -> PathTable:
        """Return the joint table of several layers that run on one processor. Raises CostError if two define the same
        path.
        """
        paths: dict[str, PathCost] = {}
        owners: dict[str, str] = {}
        elsewhere = {path: known for table in tables for path, known in table.elsewhere.items()}
        for table in tables:
            for path, cost in table.paths.items():
                if path in paths:
                    cause = f"is one of {owners[path]} and one of {table.name}, which run on one processor"
                    raise CostError(f"path {path!r}", cause, "rename one")
                paths[path], owners[path] = cost, table.owner(path)
        return cls(
            " and ".join(table.name for table in tables), paths, tables[0].compiled, elsewhere=elsewhere, owners=owners
        )

    def owner(self, path: str) -> str:
        """Return the name of the table that defines a path."""
        return self.owners.get(path, self.name)

    def cost(self, path: str) -> PathCost:
        """Return the cost of a path. Raises CostError for an unknown path."""
        try:
            return self.paths[path]
        except KeyError:
            if path in self.elsewhere:
                cause = f"{self.name} lacks it, composed of {self.composition or 'nothing'}"
                remedy = f"compose it as {self.elsewhere[path] or 'bare'}, which has the path"
                raise CostError(f"path {path!r}", cause, remedy) from None
            cause = f"is not in the compiled costs of {self.name}"
            layer = "<layer>" if self.owners else self.name.split("/")[0]
            remedy = f"{nearest(path, self.paths)}; a new path is counted by `make costs LAYER={layer}`"
            raise CostError(f"path {path!r}", cause, remedy) from None


@lru_cache
def _parsed(file: Path, text: str) -> dict[str, Any]:
    """Return the TOML table of a text; cached."""
    return parsed(file, text)


@lru_cache
def _read(file: Path, text: str, composed: str, name: str, composition: str) -> PathTable:
    """Return the cost table in the text of a file and the text of its compositions; cached."""
    data = {**_parsed(file, composed), **_parsed(file, text)}
    try:
        paths, elsewhere = _composed(name, data, composition)
        return PathTable(name, paths, dict(data["compiled"]), composition, elsewhere)
    except (KeyError, TypeError, AttributeError) as error:
        remedy = "run python -m pymodels.costs.compile"
        raise CostError(str(file), f"is not a cost table ({error})", remedy) from error


def _cost(fields: Mapping[str, Any]) -> PathCost:
    """Return the path cost in an entry of a table."""
    return PathCost(**{**fields, "stalls": tuple(fields.get("stalls", ()))})


def _composed(name: str, data: Mapping[str, Any], chosen: str) -> tuple[dict[str, PathCost], dict[str, str]]:
    """Return the paths of a composition, and where to find the others. Raises CostError if it is not compiled."""
    paths = {path: _cost(fields) for path, fields in data["path"].items()}
    compositions = data.get("composition", {})
    others = {known: set(one["path"]) | paths.keys() - set(one["lacks"]) for known, one in compositions.items()}
    if not others:
        return paths, {}
    if chosen and chosen not in others:
        raise CostError(f"composition {chosen!r}", f"is not compiled for {name}", nearest(chosen, others))
    here = others.get(chosen, set(paths))
    elsewhere = {path: known for known, has in {**others, "": set(paths)}.items() for path in has - here}
    changed = compositions[chosen]["path"] if chosen else {}
    costs = {**paths, **{path: _cost(fields) for path, fields in changed.items()}}
    return {path: cost for path, cost in costs.items() if path in here}, elsewhere


def _tables(firmware: Path | None) -> Iterator[Path]:
    for folder in [root / "firmware" for root in roots()] if firmware is None else [firmware]:
        yield from folder.glob("*/*/costs.toml")
