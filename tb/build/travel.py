"""A build on its way to another machine with the same sources, which then need not make it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tb.build.build import Build
from tb.build.store import FILES, STORE, kept


class Parcel(NamedTuple):
    """What travels: plain values, so that who passes it on needs no sources."""

    name: str
    """Of the build: a hash of all its inputs."""
    machine: str
    """What its programs need beside them (`machine`)."""
    files: Mapping[str, tuple[int, bytes]]
    """Mode and content by path in its folder."""


def machine() -> str:
    """What a program that was compiled here needs of another machine to run there."""
    return " ".join((platform.system(), platform.machine(), *platform.libc_ver(), sys.version))


def packed(made: Build) -> Parcel:
    """A build as it travels."""
    paths = sorted(path for path in made.folder.rglob("*") if path.is_file() and path.name != FILES)
    files = {str(path.relative_to(made.folder)): (path.stat().st_mode, path.read_bytes()) for path in paths}
    return Parcel(made.folder.name, machine(), files)


def unpack(parcel: Parcel, store: Path = STORE) -> bool:
    """Keep a build that has come; whether it can be used here. A machine of another kind makes its own."""
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
