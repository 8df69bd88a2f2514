"""Inputs of a run outside of all roots: files of a study elsewhere, and the modules that it or another root imports.

Imports are read from the sources, including those in functions. Sources in the hash and Python's own modules are
excluded. An installed package counts by its version, except that of the study or of a root.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import distributions, version
from pathlib import Path
from typing import NamedTuple

from pymodels.errors import SanlabError
from pymodels.roots import roots
from tb.tools.imports import Import, imported

PACKAGES = tuple({Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")})
PYTHON = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})


class Outside(NamedTuple):
    """Inputs of a run outside of all roots."""

    files: list[Path]
    versions: list[str]
    """Installed packages: `numpy 2.4.6`."""


def outside(study: str, known: tuple[str, ...]) -> Outside:
    """Return the inputs of a study outside of all roots.

    Args:
        study: Name of the study; a name with a dot is a module elsewhere.
        known: Folders of every root that the hash of the sources includes.

    Raises:
        SanlabError: A module imports another one by a computed name.
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
    """Return the distributions of top-level packages with their versions."""
    return sorted({f"{name} {version(name)}" for name in _distributions(packages)})


def _distributions(packages: set[str]) -> set[str]:
    """Return the names of the installed distributions with a file in one of the top-level packages."""
    if not packages:
        return set()
    return {
        one.metadata["Name"]
        for one in distributions()
        if any(file.parts[0].partition(".")[0] in packages for file in one.files or ())
    }


def _of_roots(known: tuple[str, ...]) -> Iterator[str]:
    """Yield the imports of the modules in the other roots."""
    for root in roots()[1:]:
        for path in (path for folder in known for path in sorted((root / folder).rglob("*.py"))):
            yield from _led_to(path, path.relative_to(root).parts[:-1])


def _led_to(path: Path, package: Sequence[str]) -> list[str]:
    """Return the possible imports of a file: for each import the module, and a module in it."""
    found = list(imported(path.read_text(encoding="utf-8"), package))
    return [name for one in found for name in _candidates(path, one)]


def _candidates(path: Path, one: Import) -> list[str]:
    if not one.module:
        cause = f"{path}:{one.line} imports a module by a computed name, so its inputs are unknown"
        raise SanlabError("the study cannot be swept", cause, "import it by its name")
    return [one.module, *([f"{one.module}.{one.name}"] if one.name else [])]


def _chain(name: str) -> Iterator[tuple[str, Path, list[str]]]:
    """Yield name, file and package of a module's packages and the module, outermost first, without importing them."""
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
    """Return the location of a package, also through finders of editable installations."""
    return next((spec for finder in sys.meta_path if (spec := finder.find_spec(name, None))), None)
