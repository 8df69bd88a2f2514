"""What a run follows from outside of all roots: the files that a study which stands elsewhere is made of, and all that
it or a module of another root imports.

Read from the sources, so that imports in functions count. What the hash of the sources has already is left out, and
what belongs to Python. A package that is installed counts by its version, but for that of the study or of a root.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import NamedTuple

from pymodels.errors import SanlabError
from pymodels.roots import roots
from tb.tools.imports import Import, imported

PACKAGES = tuple({Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")})
PYTHON = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})


class Outside(NamedTuple):
    """What a run follows from outside of all roots."""

    files: list[Path]
    versions: list[str]
    """Packages that are installed: `numpy 2.4.6`."""


def outside(study: str, known: tuple[str, ...]) -> Outside:
    """What a study's module is made of where it stands elsewhere (a name with a dot), and all that it and the other
    roots lead to; `known` are folders of every root, to leave out.

    Raises SanlabError where one of them imports a module whose name is computed: nobody can say which.
    """
    hashed = [root / folder for root in roots() for folder in known]
    own = {study.split(".", maxsplit=1)[0], *(root.name for root in roots()[1:])}
    found: dict[str, Path] = {}
    installed: set[str] = set()
    todo = [*([study] if "." in study else []), *_of_roots(known)]
    while todo:
        for name, path, package in _chain(todo.pop()):
            if name in found or any(path.is_relative_to(folder) for folder in hashed):
                continue
            top = name.split(".", maxsplit=1)[0]
            if top not in own and any(path.is_relative_to(folder) for folder in (*PACKAGES, *PYTHON)):
                installed |= {top} if any(path.is_relative_to(folder) for folder in PACKAGES) else set()
                continue
            found[name] = path
            if path.suffix == ".py":
                todo += _led_to(path, package)
    return Outside(sorted(found.values()), _versions(installed))


def _versions(packages: set[str]) -> list[str]:
    """The distributions that top-level packages come from, each with its version."""
    known = packages_distributions() if packages else {}
    return sorted({f"{one} {version(one)}" for package in packages for one in known.get(package, ())})


def _of_roots(known: tuple[str, ...]) -> Iterator[str]:
    """What the modules of the other roots import."""
    for root in roots()[1:]:
        for path in (path for folder in known for path in sorted((root / folder).rglob("*.py"))):
            yield from _led_to(path, path.relative_to(root).parts[:-1])


def _led_to(path: Path, package: Sequence[str]) -> list[str]:
    """What a file may import: of each import the module, and a module in it."""
    found = list(imported(path.read_text(encoding="utf-8"), package))
    return [name for one in found for name in _candidates(path, one)]


def _candidates(path: Path, one: Import) -> list[str]:
    if not one.module:
        cause = f"{path}:{one.line} imports a module by a name that is computed, and its results follow from it"
        raise SanlabError("the study cannot be swept", cause, "import it by its name")
    return [one.module, *([f"{one.module}.{one.name}"] if one.name else [])]


def _chain(name: str) -> Iterator[tuple[str, Path, list[str]]]:
    """A module and the packages that it stands in, outermost first: name, file, package. Nothing is imported."""
    parts = name.split(".")
    places: list[str] | None = None
    for depth in range(1, len(parts) + 1):
        here = ".".join(parts[:depth])
        spec = _top(here) if places is None else PathFinder.find_spec(here, places)
        if spec is None:
            return
        inside = spec.submodule_search_locations
        if spec.origin is not None and spec.has_location:
            yield here, Path(spec.origin), parts[: depth if inside is not None else depth - 1]
        if inside is None:
            return
        places = list(inside)


def _top(name: str) -> ModuleSpec | None:
    """Where a package stands, also one that a finder of its own leads to, as editable installations have."""
    return next((spec for finder in sys.meta_path if (spec := finder.find_spec(name, None))), None)
