"""Result folders: a command works in a new folder within the result folder, and publishes its files at its end.

Commands with the same result folder never mix files: publishing takes an exclusive lock of the folder, and reading
several files a shared lock (`reading`). `manifest.json` lists the published files with size and time. Only listed and
unchanged files are ever removed. A foreign file in the way is renamed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path

from pymodels.errors import ConfigError
from pymodels.results import write_atomically

MANIFEST = "manifest.json"
"""List of the published files of a folder."""
WORK = ".run-"
"""Prefix of the folders in which commands work."""
OWNER = ".owner.json"
"""File in such a folder that names its process."""
MADE_BY = {"made by": "sanlab", "schema": 1}
COMMITTED = "results.json"
"""File that is removed first and published last: the files next to it belong to it."""
Stamp = tuple[int, int]
"""Size in bytes, and time of the last change in ns."""


@contextmanager
def workplace(folder: Path, names: Sequence[str] = ()) -> Iterator[Path]:
    """Yield a new, empty working folder within `folder`, which is removed at the end.

    Working folders of killed commands are removed first. Raises ConfigError if `folder` has a foreign file or folder
    with one of the `names` (patterns) that the command may publish.
    """
    check(folder, names)
    there = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    work, lock = _begin(folder)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)
        if not there:
            with suppress(OSError):  # not empty
                folder.rmdir()


def check(folder: Path, names: Sequence[str]) -> None:
    """Raise ConfigError if a foreign file or folder has one of these names (patterns)."""
    if not folder.is_dir():
        return
    ours = {name.partition("/")[0] for name in _manifest(folder)}
    if _made_by_us(folder / MANIFEST):
        ours.add(MANIFEST)
    for entry in sorted(os.listdir(folder)):
        if entry not in ours and any(fnmatch(entry, name) for name in (*names, MANIFEST)):
            cause = f"{entry!r} is in the way and is not a file of a run according to {MANIFEST}"
            raise ConfigError(str(folder), 0, "not a folder for results", cause, "name another folder, or move it away")


def publish(work: Path, folder: Path) -> None:
    """Replace the published files of `folder` by those in `work`.

    Raises ConfigError if a foreign file cannot be renamed, ResultsError or OSError if writing fails.
    """
    files = {path.relative_to(work).as_posix(): path for path in _files(work) if path.name != OWNER}
    with _locked(folder, fcntl.LOCK_EX):
        ours = _unchanged(folder)
        if COMMITTED in ours:
            (folder / COMMITTED).unlink(missing_ok=True)
        for name in ours:
            (folder / name).unlink(missing_ok=True)
        _remove_empty(folder, ours)
        _write(folder, {name: _stamp(path) for name, path in files.items()})  # first: a killed command's files are ours
        for name in sorted(files, key=lambda name: name == COMMITTED):
            target = folder / name
            _give_way(folder, target)
            target.parent.mkdir(parents=True, exist_ok=True)
            files[name].rename(target)


def publish_alone(work: Path, folder: Path, name: str) -> None:
    """Publish one file of `work` beside the published files of an earlier run, and replace the one of this name.

    Raises ConfigError if a foreign file cannot be renamed, ResultsError or OSError if writing fails.
    """
    with _locked(folder, fcntl.LOCK_EX):
        ours = _unchanged(folder)
        if name in ours:
            (folder / name).unlink(missing_ok=True)
        _write(folder, {**ours, name: _stamp(work / name)})
        _give_way(folder, folder / name)
        (work / name).rename(folder / name)


@contextmanager
def adding(folder: Path, *names: str) -> Iterator[None]:
    """Lock a folder while files about its run are added, and list them in its manifest."""
    with _locked(folder, fcntl.LOCK_EX):
        yield
        if _made_by_us(folder / MANIFEST):
            _write(folder, {**_manifest(folder), **{name: _stamp(folder / name) for name in names}})


def written(file: Path) -> tuple[int, int] | None:
    """Return the identity of the file at a path, which changes with each publication; None without a file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Prevent publication in a folder while its files are read."""
    if not folder.is_dir():
        yield
        return
    with _locked(folder, fcntl.LOCK_SH):
        yield


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Prevent publication in a folder and concurrent reading of several files."""
    with _locked(folder, fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def _begin(folder: Path) -> tuple[Path, int]:
    """Create a working folder and return it with the lock of its live owner."""
    while True:
        work = Path(tempfile.mkdtemp(dir=folder, prefix=WORK))
        try:
            lock = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # removed by another command as abandoned
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            owner = {**MADE_BY, "pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
            (work / OWNER).write_text(json.dumps(owner), encoding="utf-8")
        except FileNotFoundError:
            os.close(lock)
            continue
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            os.close(lock)
            raise
        return work, lock


def _remove_abandoned(folder: Path) -> None:
    """Remove the working folders of dead commands."""
    for work in folder.glob(f"{WORK}*"):
        with suppress(OSError):  # its owner is alive, or has just removed it
            handle = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _made_by_us(work / OWNER):
                    shutil.rmtree(work, ignore_errors=True)
                else:
                    work.rmdir()  # its command was killed before its first file
            finally:
                os.close(handle)


def _made_by_us(file: Path) -> bool:
    return bool(MADE_BY.items() <= _json(file).items())


def _json(file: Path) -> dict[str, object]:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return plain if isinstance(plain, dict) else {}


def _files(folder: Path) -> list[Path]:
    """Return all files below a folder; links are not followed."""
    return [Path(at, name) for at, folders, names in os.walk(folder) for name in (*names, *_links(at, folders))]


def _links(at: str, folders: Sequence[str]) -> list[str]:
    return [name for name in folders if Path(at, name).is_symlink()]


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return status.st_size, status.st_mtime_ns


def _manifest(folder: Path) -> dict[str, Stamp]:
    """Return the published files of a folder; empty if its manifest is missing or foreign."""
    plain = _json(folder / MANIFEST)
    files = plain.get("files")
    if not (MADE_BY.items() <= plain.items() and isinstance(files, dict)):
        return {}
    return {name: (stamp[0], stamp[1]) for name, stamp in files.items() if _inside(name)}


def _inside(name: str) -> bool:
    """Return True if a name is a path within the folder."""
    return not name.startswith("/") and ".." not in name.split("/")


def _unchanged(folder: Path) -> dict[str, Stamp]:
    """Return the published files that have not changed."""
    found = {}
    for name, stamp in _manifest(folder).items():
        with suppress(OSError):
            if _stamp(folder / name) == stamp:
                found[name] = stamp
    return found


def _write(folder: Path, files: Mapping[str, Stamp]) -> None:
    _give_way(folder, folder / MANIFEST)
    text = json.dumps({**MADE_BY, "files": dict(sorted(files.items()))}, indent=1)
    write_atomically(folder / MANIFEST, f"{text}\n")


def _give_way(folder: Path, target: Path) -> None:
    """Rename any file or folder, except our manifest, that is in the way of a file or of a folder above it."""
    for place in reversed([target, *target.relative_to(folder).parents[:-1]]):
        at = folder / place
        if not os.path.lexists(at) or (at != target and at.is_dir()) or (at.name == MANIFEST and _made_by_us(at)):
            continue
        kept, number = at.with_name(f"{at.name}.kept"), 1
        while os.path.lexists(kept):
            number += 1
            kept = at.with_name(f"{at.name}.kept{number}")
        at.rename(kept)


def _remove_empty(folder: Path, names: Mapping[str, Stamp]) -> None:
    """Remove the folders of these files if they are empty."""
    above = {parent for name in names for parent in Path(name).parents[:-1]}
    for parent in sorted(above, key=lambda path: -len(path.parts)):
        with suppress(OSError):
            (folder / parent).rmdir()
