"""Root folders from which layers, studies, profiles, clusters and NICs are loaded: this tree, and roots of other
projects.

A root has the layout of this tree (`firmware/<layer>/`, `tb/studies/<layer>/<study>.py`, ...) and contains only what it
adds. Roots are the folders of SANLAB_PATH and the installed packages with an entry point of the group `sanlab`. Modules
of a root are imported under the names that they would have in this tree: packages with one module for each layer, study
or NIC extend their `__path__` by `outside_folders(__name__)`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from glob import glob
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from pymodels.errors import ConfigError

TREE = Path(__file__).resolve().parents[1]
PATH, GROUP = "SANLAB_PATH", "sanlab"
"""Environment variable with folders separated by `:`, and group of entry points, that name further roots."""
TOPS = ("pymodels", "firmware", "tb", "hdl")
"""Top-level folders of a root; each has at least one of them."""


UNIQUE = (("pymodels/profiles", "*.toml"), ("tb/studies", "*/fuzz/__init__.py"))
"""Folders of a root and patterns of files whose names must be unique over all roots."""
STUDIES = ("tb/studies", "[a-z]*/[a-z]*.py")
"""Folder and pattern of studies, which are named after their files."""
KIT = "kit"
"""Folder beside those of the studies that contains shared code and no study."""
OLD = (
    ("firmware/nic/[a-z]*/", "firmware/<layer>/nic/"),
    ("firmware/host/[a-z]*/", "firmware/<layer>/host/"),
    ("tb/fuzz/layers/", "tb/studies/<layer>/fuzz/"),
    ("tb/explore/worlds/", "tb/studies/<layer>/explore/worlds.py"),
    ("tb/studies/[a-z]*.py", "tb/studies/<layer>/"),
)
"""Patterns of the former layout, and the present place of their files."""


@cache
def roots() -> tuple[Path, ...]:
    """Return all existing roots, this tree first; `check` reports missing ones.

    The environment variable is changed to absolute paths, since child processes run in other folders.
    """
    named = [Path(text).absolute() for text in os.environ.get(PATH, "").split(os.pathsep) if text]
    if named:
        os.environ[PATH] = os.pathsep.join(map(str, named))
    packages = [folder for point in entry_points(group=GROUP) if (folder := _folder(point)) is not None]
    return tuple(dict.fromkeys(path.resolve() for path in (TREE, *named, *packages) if path.is_dir()))


def _folder(point: EntryPoint) -> Path | None:
    """Return the folder of an entry point's package without importing it, or None if it is missing."""
    name = point.value.partition(":")[0].strip()
    for finder in sys.meta_path:
        found = finder.find_spec(name, None)
        if found is not None and found.submodule_search_locations:
            return Path(next(iter(found.submodule_search_locations)))
    return None


def check() -> None:
    """Raise ConfigError if a root is missing or has no known folder, or if two roots use the same name."""
    remedy = f"name a folder with some of {', '.join(TOPS)}"
    for text in filter(None, os.environ.get(PATH, "").split(os.pathsep)):
        _check_root(PATH, text, Path(text), remedy)
    for point in entry_points(group=GROUP):
        where = f"entry point {point.name!r} of the group {GROUP}"
        _check_root(where, point.value, _folder(point), "name a top-level package with some of " + ", ".join(TOPS))

    for folder, pattern in UNIQUE:
        files_by_name(folder, pattern)
    studies()


def _check_root(where: str, text: str, folder: Path | None, remedy: str) -> None:
    if folder is None or not folder.is_dir():
        raise ConfigError(where, 0, "missing root", f"{text} does not exist", remedy)
    if not any((folder / top).is_dir() for top in TOPS):
        raise ConfigError(where, 0, "not a root", f"{folder} has none of the required folders", remedy)
    for old, new in OLD:
        if found := sorted(glob(old, root_dir=folder)):
            cause = f"{folder / found[0]} has the former layout"
            raise ConfigError(where, 0, "outdated layout", cause, f"move it to {new}")


def outside_folders(package: str) -> list[str]:
    """Return the folders of a package in the other roots, to extend its `__path__`."""
    return [str(folder) for root in roots()[1:] if (folder := root.joinpath(*package.split("."))).is_dir()]


def place(name: str) -> Path:
    """Return the path of a file or folder, given its path below a root: in the first root that has it, else in this
    tree.
    """
    return next((path for root in roots() if (path := root / name).exists()), TREE / name)


def listing(folder: str) -> tuple[tuple[Path, frozenset[str]], ...]:
    """Return the content of a folder in each root, as a key for caches that depend on added and removed files."""
    places = [root / folder for root in roots()]
    return tuple((place, frozenset(os.listdir(place))) for place in places if place.is_dir())


def files_by_name(folder: str, pattern: str) -> dict[str, Path]:
    """Return the entries of a folder in all roots, sorted by name, with the matching file of each.

    An entry is a file in the folder, or a folder that contains the file.

    Args:
        folder: Path below a root.
        pattern: Glob pattern of files below the folder.

    Raises:
        ConfigError: Two roots have an entry of the same name.
    """
    return _unique(folder, _matching(folder, pattern))


def studies() -> dict[str, Path]:
    """Return the file of each study of all roots, sorted by name. Raises ConfigError if two studies have the same
    name.
    """
    folder, pattern = STUDIES
    files = (path for _, path in _matching(folder, pattern) if path.parent.name != KIT)
    return _unique(folder, ((path.stem, path) for path in files))


def _unique(folder: str, named: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """Return files by name. Raises ConfigError if two have the same name."""
    found: dict[str, Path] = {}
    for name, path in named:
        if name in found:
            what, cause = f"two of {folder} are named {name!r}", f"{found[name]} and {path}"
            raise ConfigError(PATH, 0, what, cause, "rename one")
        found[name] = path
    return dict(sorted(found.items()))


def _matching(folder: str, pattern: str) -> Iterator[tuple[str, Path]]:
    for root in roots():
        base = root / folder
        for found in glob(pattern, root_dir=base):  # several times as fast as Path.glob
            yield found.partition(os.sep)[0].removesuffix(os.path.splitext(found)[1]), base / found
