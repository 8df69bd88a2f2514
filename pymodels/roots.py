"""Where layers, studies, profiles, clusters and NICs are looked for: this tree, and the roots of others.

A root is a folder that is laid out as this tree is (`firmware/<layer>/`, `tb/studies/<layer>/<study>.py`, ...), with
what it adds and nothing else. Roots are the folders of SANLAB_PATH, then the packages that are installed with an
entry point of the group `sanlab`. Modules of a root have the names that they would have in this tree: the packages
that hold one module a layer, a study or a NIC extend their `__path__` by `beyond(__name__)`.
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
"""The environment variable, folders with `:` between them; the group of entry points."""
TOPS = ("pymodels", "firmware", "tb", "hdl")
"""What a root has at its top, or some of it."""


UNIQUE = (("pymodels/profiles", "*.toml"), ("tb/studies", "*/fuzz/__init__.py"))
"""Folders of a root, and the files in them whose names must differ in all roots."""
STUDIES = ("tb/studies", "[a-z]*/[a-z]*.py")
"""Folder and pattern of studies, whose names are those of their files."""
KIT = "kit"
"""Folder beside those of studies that has none."""
OLD = (
    ("firmware/nic/[a-z]*/", "firmware/<layer>/nic/"),
    ("firmware/host/[a-z]*/", "firmware/<layer>/host/"),
    ("tb/fuzz/layers/", "tb/studies/<layer>/fuzz/"),
    ("tb/explore/worlds/", "tb/studies/<layer>/explore/worlds.py"),
    ("tb/studies/[a-z]*.py", "tb/studies/<layer>/"),
)
"""Places of an earlier layout, and where what stands there belongs."""


@cache
def roots() -> tuple[Path, ...]:
    """All roots, this tree first. One that is not there is left out; `check` tells of it.

    From now on the environment has them as full paths: child processes work in other folders.
    """
    named = [Path(text).absolute() for text in os.environ.get(PATH, "").split(os.pathsep) if text]
    if named:
        os.environ[PATH] = os.pathsep.join(map(str, named))
    packages = [folder for point in entry_points(group=GROUP) if (folder := _folder(point)) is not None]
    return tuple(dict.fromkeys(path.resolve() for path in (TREE, *named, *packages) if path.is_dir()))


def _folder(point: EntryPoint) -> Path | None:
    """The folder of the package that an entry point names, which is not imported; None when it is not there."""
    name = point.value.partition(":")[0].strip()
    for finder in sys.meta_path:
        found = finder.find_spec(name, None)
        if found is not None and found.submodule_search_locations:
            return Path(next(iter(found.submodule_search_locations)))
    return None


def check() -> None:
    """Look whether all roots are there, are roots, and share no name. Raises ConfigError naming the first mistake."""
    remedy = f"name a folder with some of {', '.join(TOPS)}"
    for text in filter(None, os.environ.get(PATH, "").split(os.pathsep)):
        _check_root(PATH, text, Path(text), remedy)
    for point in entry_points(group=GROUP):
        where = f"entry point {point.name!r} of the group {GROUP}"
        _check_root(where, point.value, _folder(point), "name a top-level package with some of " + ", ".join(TOPS))

    for folder, pattern in UNIQUE:
        things(folder, pattern)
    studies()


def _check_root(where: str, text: str, folder: Path | None, remedy: str) -> None:
    if folder is None or not folder.is_dir():
        raise ConfigError(where, 0, "no such root", f"{text} is not there", remedy)
    if not any((folder / top).is_dir() for top in TOPS):
        raise ConfigError(where, 0, "no root", f"{folder} has none of the folders of one", remedy)
    for old, new in OLD:
        if found := sorted(glob(old, root_dir=folder)):
            cause = f"{folder / found[0]} is in a place of the old layout"
            raise ConfigError(where, 0, "old layout", cause, f"move it to {new}")


def beyond(package: str) -> list[str]:
    """The folders of a package in the other roots, to extend its `__path__`."""
    return [str(folder) for root in roots()[1:] if (folder := root.joinpath(*package.split("."))).is_dir()]


def place(name: str) -> Path:
    """A file or folder, by its name below a root: of the first root that has it, else that of this tree."""
    return next((path for root in roots() if (path := root / name).exists()), TREE / name)


def listing(folder: str) -> tuple[tuple[Path, frozenset[str]], ...]:
    """What stands in a folder of each root: it changes with what is added there, or taken away."""
    places = [root / folder for root in roots()]
    return tuple((place, frozenset(os.listdir(place))) for place in places if place.is_dir())


def things(folder: str, pattern: str) -> dict[str, Path]:
    """What stands in a folder of all roots, sorted by name: the file that matches for each thing, itself a file of the
    folder or in a folder of its own. Raises ConfigError for a name that two roots have.
    """
    return _unique(folder, _matching(folder, pattern))


def studies() -> dict[str, Path]:
    """The file of each study of all roots, sorted by name. Raises ConfigError for a name that two files have."""
    folder, pattern = STUDIES
    files = (path for _, path in _matching(folder, pattern) if path.parent.name != KIT)
    return _unique(folder, ((path.stem, path) for path in files))


def _unique(folder: str, named: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """Files by name. Raises ConfigError for a name that two have."""
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
