"""Transport of a build to another machine with the same sources."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tb.build.build import Build
from tb.build.store import FILES, STORE, kept


class Parcel(NamedTuple):
    """Build in plain values, so that it can be passed on without the sources."""

    name: str
    """Name of the build: a hash of all its inputs."""
    machine: str
    """Requirements of its programs on the machine (`machine`)."""
    files: Mapping[str, tuple[int, bytes]]
    """Mode and content by path in the folder."""


def machine() -> str:
    """Return the properties that another machine must share to run a program compiled here."""
    return " ".join((platform.system(), platform.machine(), *platform.libc_ver(), sys.version))


def packed(made: Build) -> Parcel:
    """Return a build as a parcel."""
    paths = sorted(path for path in made.folder.rglob("*") if path.is_file() and path.name != FILES)
    files = {str(path.relative_to(made.folder)): (path.stat().st_mode, path.read_bytes()) for path in paths}
    return Parcel(made.folder.name, machine(), files)


def unpack(parcel: Parcel, store: Path = STORE) -> bool:
    """Store a received build and return True, or return False if this machine cannot run it."""
    if parcel.machine != machine():
        return False
    kept(parcel.name, lambda folder: _write(parcel, folder), store)
    return True


def _write(parcel: Parcel, folder: Path) -> None:
    for name, (mode, content) in parcel.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode & 0o777)
