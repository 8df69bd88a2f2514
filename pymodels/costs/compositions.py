"""One paths.c, compiled once for each set of parts that a layer can be composed of.

`compositions.toml` beside a `paths.c` names its parts: `parts = ["flow", "reliability"]`. A composition is a set of
them; `paths.c` finds `WITH_FLOW` defined where `flow` is in it. Up to four parts make all sets; of more there are the
bare one, each alone and all together, unless `sets = [["flow"], ...]` names others. Where parts are found by folder,
`found = "protocols"`, each header there is one: alone, beside each other one, and all together, all sets of those that
`full = [...]` names, and each of `parts` alone. `costs.toml` holds the bare composition, and of each other one what
differs from it.
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
"""Of so many parts all sets are compiled."""
Composition = tuple[str, ...]
BARE: Composition = ()


def key(parts: Iterable[str]) -> str:
    """The name of a composition: its parts, sorted."""
    return "+".join(sorted(set(parts)))


def declared(folder: Path) -> tuple[Composition, ...]:
    """The compositions of a layer's folder, the bare one first; only that where nothing is said."""
    file = folder / FILE
    if not file.exists():
        return (BARE,)
    data, _ = read_toml(file)
    found = sorted(one.stem for one in (folder / data["found"]).glob("*.h")) if "found" in data else []
    parts = sorted({*data.get("parts", ()), *found})
    for part in parts or [""]:
        if not (isinstance(part, str) and part.isidentifier() and part == part.lower()):
            raise CostError(str(file), f"{part!r} is no name of a part", 'write parts = ["...", ...] in small letters')
    sets = _of_found(found, data) if found else data["sets"] if "sets" in data else _usual(parts)
    for part in (one for chosen in sets for one in chosen):
        if part not in parts:
            raise CostError(str(file), f"a set has {part!r}, which is no part", nearest(part, parts))
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
    """The processor with the flags of a composition."""
    return replace(target, flags=(*target.flags, *(f"-DWITH_{part.upper()}" for part in composition)))


def differences(bare: Mapping[str, T], other: Mapping[str, T]) -> tuple[dict[str, T], list[str]]:
    """The paths that a composition has beside the bare one, or at another cost; and what it lacks."""
    changed = {path: cost for path, cost in other.items() if bare.get(path) != cost}
    return changed, [path for path in bare if path not in other]
