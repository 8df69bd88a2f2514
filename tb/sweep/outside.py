"""The files that a study which stands elsewhere is made of: its own, and those of every module that it imports.

Read from the sources, so that imports in functions count. What the hash of the sources has already, what belongs to
Python, and what is installed beside the study's own package is left out.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from pymodels.errors import SanlabError
from tb.tools.imports import Import, imported
from tb.tools.paths import ROOT

INSTALLED = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def files_of(study: str, known: tuple[str, ...]) -> list[Path]:
    """The files of a study's module and of all that it leads to; `known` are folders of the checkout to leave out.

    Raises SanlabError where one of them imports a module whose name is computed: nobody can say which.
    """
    found: dict[str, Path] = {}
    todo = [study]
    while todo:
        for name, path, package in _chain(todo.pop()):
            if name in found or not _own(name, path, study, known):
                continue
            found[name] = path
            if path.suffix == ".py":
                todo += [module for one in _read(path, package) for module in _candidates(one)]
    return sorted(found.values())


def _candidates(one: Import) -> list[str]:
    """What an import may name: the module, and a module in it."""
    return [one.module, *([f"{one.module}.{one.name}"] if one.name else [])]


def _read(path: Path, package: list[str]) -> list[Import]:
    found = list(imported(path.read_text(encoding="utf-8"), package))
    for one in found:
        if not one.module:
            cause = f"{path}:{one.line} imports a module by a name that is computed, and its results follow from it"
            raise SanlabError("the study cannot be swept", cause, "import it by its name")
    return found


def _chain(name: str) -> Iterator[tuple[str, Path, list[str]]]:
    """A module and the packages that it stands in, outermost first: name, file, package. Nothing is imported."""
    parts = name.split(".")
    places: list[str] | None = None
    for depth in range(1, len(parts) + 1):
        here = ".".join(parts[:depth])
        spec: ModuleSpec | None = PathFinder.find_spec(here, places)
        if spec is None:
            return
        inside = spec.submodule_search_locations
        if spec.origin is not None and spec.has_location:
            yield here, Path(spec.origin), parts[: depth if inside is not None else depth - 1]
        if inside is None:
            return
        places = list(inside)


def _own(name: str, path: Path, study: str, known: tuple[str, ...]) -> bool:
    """Whether a module is one of the study's, and not hashed with the sources."""
    if any(path.is_relative_to(ROOT / folder) for folder in known):
        return False
    same = name.split(".", maxsplit=1)[0] == study.split(".", maxsplit=1)[0]
    return same or not any(path.is_relative_to(folder) for folder in INSTALLED)
