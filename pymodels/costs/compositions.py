"""Compositions of a layer: its paths.c is compiled once for each set of optional parts.

`compositions.toml` beside a `paths.c` names the parts: `parts = ["flow", "reliability"]`. A composition is a set of
parts; `paths.c` sees `WITH_FLOW` defined if it contains `flow`. With up to four parts all sets are compiled. With more,
the bare set, each part alone and all together are compiled, unless `sets = [["flow"], ...]` lists other sets.

With `found = "protocols"` each header in that folder is a part. The sets are then each alone, each pair, all together,
all sets of those in `full = [...]`, and each of `parts` alone. `costs.toml` contains the bare composition, and the
differences of each other one from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from pymodels.costs.assembly import CostError
from pymodels.costs.targets import Target
from pymodels.errors import nearest
from pymodels.toml import read_toml

T = TypeVar("T")
FILE = "compositions.toml"
MOST = 4
"""Maximum number of parts of which all sets are compiled."""
Composition = tuple[str, ...]
BARE: Composition = ()


def key(parts: Iterable[str]) -> str:
    """Return the name of a composition: its parts, sorted and joined by `+`."""
    return "+".join(sorted(set(parts)))


def declared(folder: Path) -> tuple[Composition, ...]:
    """Return the compositions of a layer's folder, the bare one first; only that without a `compositions.toml`."""
    file = folder / FILE
    if not file.exists():
        return (BARE,)
    data, _ = read_toml(file)
    found = sorted(one.stem for one in (folder / data["found"]).glob("*.h")) if "found" in data else []
    parts = sorted({*data.get("parts", ()), *found})
    for part in parts or [""]:
        if not (isinstance(part, str) and part.isidentifier() and part == part.lower()):
            raise CostError(
                str(file), f"{part!r} is not a valid name of a part", 'write parts = ["...", ...] in lower case'
            )
    sets = _of_found(found, data) if found else data["sets"] if "sets" in data else _usual(parts)
    for part in (one for chosen in sets for one in chosen):
        if part not in parts:
            raise CostError(str(file), f"a set contains {part!r}, which is not a part", nearest(part, parts))
    named = {tuple(sorted(set(chosen))) for chosen in sets} - {BARE}
    return (BARE, *sorted(named, key=lambda one: (len(one), one)))


def _usual(parts: list[str]) -> list[Composition]:
    sizes = range(1, len(parts) + 1) if len(parts) <= MOST else (1, len(parts))
    return [chosen for size in sizes for chosen in combinations(parts, size)]


def _of_found(found: list[str], data: Mapping[str, Any]) -> list[Composition]:
    few = [chosen for size in (1, 2, len(found)) for chosen in combinations(found, size)]
    full = data.get("full", ())
    some = [chosen for size in range(3, len(full) + 1) for chosen in combinations(full, size)]
    return [*((part,) for part in data.get("parts", ())), *few, *some]


def composed(target: Target, composition: Composition) -> Target:
    """Return the processor with the compiler flags of a composition."""
    return replace(target, flags=(*target.flags, *(f"-DWITH_{part.upper()}" for part in composition)))


def differences(bare: Mapping[str, T], other: Mapping[str, T]) -> tuple[dict[str, T], list[str]]:
    """Return the paths that a composition adds or whose cost it changes, and the names of the paths that it lacks."""
    changed = {path: cost for path, cost in other.items() if bare.get(path) != cost}
    return changed, [path for path in bare if path not in other]
