"""Build store: builds are made once, found by name, and removed least recently used above a size limit.

A build is made in a scratch folder and renamed when complete, so an aborted build is never used. A process that uses a
build holds a shared lock until it ends, so a build in use is never removed. A second, exclusive lock is held while a
build is made; other processes wait for it.

A build lists its files with size and hash. Each use compares the sizes, and the hashes of files younger than the list.
After a crash of one of its programs, all hashes are compared (`damage`). A damaged build is made again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from pymodels.errors import ConfigError, SanlabError
from tb.tools.paths import builds
from tb.tools.plain import PLAIN, plain, plain_folder
from tb.tools.programs import ToolError

STORE = builds()
LIMIT = "SANLAB_BUILDS_GB"
"""Environment variable with the size limit of the store in GB."""
DEFAULT_GB = 8.0
_held: dict[Path, TextIO] = {}
"""Locks of the builds that this process uses."""


FILES = ".files.json"
"""Name of the list of files in a build."""
FULL = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
"""Messages of programs on a full disk or an exhausted quota."""
LEAST_BYTES = 1 << 16
"""Free space below which a disk counts as full."""


def found(name: str, store: Path = STORE) -> Path | None:
    """Return the plain path of a build and mark it as used by this process; None if it is missing or damaged."""
    folder = plain(store) / name
    if folder in _held and folder.is_dir():
        return None if damage(folder) else folder
    store.mkdir(parents=True, exist_ok=True)
    lock = _locked(_lock_file(folder), fcntl.LOCK_SH)
    if not folder.is_dir() or damage(folder):
        lock.close()
        return None
    return _use(folder, lock)


def damage(folder: Path, hashes: bool = False) -> str:
    """Return a description of the first missing or changed file of a build; empty if it is intact.

    Args:
        folder: Folder of the build.
        hashes: Compare all hashes, also of files older than the list of files. Without them, a build that lacks the
            list counts as intact.
    """
    try:
        made_ns = (folder / FILES).stat().st_mtime_ns
        files = json.loads((folder / FILES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{folder} lacks its list of files" if hashes else ""
    except (OSError, ValueError):
        return f"{folder / FILES} is unreadable"
    for name, (size, digest) in files.items():
        if fault := _fault(folder / name, size, digest, 0 if hashes else made_ns):
            return f"{folder / name} {fault}"
    return ""


def _fault(file: Path, size: int, digest: str, made_ns: int) -> str:
    """Return the difference of a file from its record; files changed since `made_ns` are read."""
    try:
        status = file.stat()
        if status.st_size != size:
            return f"has {status.st_size} bytes instead of {size}"
        return "has changed content" if status.st_mtime_ns > made_ns and _hash(file) != digest else ""
    except OSError as error:
        return f"is unreadable ({error.strerror})"


def _list_files(folder: Path) -> None:
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != FILES):
        files[str(path.relative_to(folder))] = path.stat().st_size, _hash(path)
    (folder / FILES).write_text(json.dumps(files), encoding="utf-8")


def _hash(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def kept(name: str, make: Callable[[Path], None], store: Path = STORE) -> tuple[Path, bool]:
    """Return the folder of a build, and True if it existed; otherwise `make` fills an empty folder.

    Only one thread or process makes a build at a time. Raises the exceptions of `make`, and ConfigError for an invalid
    size limit.
    """
    limit = _limit_bytes()
    if folder := found(name, store):
        return folder, True
    folder = plain(store) / name
    lock = _locked(_lock_file(folder), fcntl.LOCK_SH)  # shared: waiters wait for the build, not for the maker's end
    try:
        with _locked(_making_file(folder), fcntl.LOCK_EX):
            there = folder.is_dir() and not damage(folder)  # made by another thread or process while we waited
            if not there:
                remove_damaged(folder)
                _make(folder, make)
    except BaseException:
        lock.close()
        raise
    _use(folder, lock)
    if not there:
        _trim(plain(store), limit)
    return folder, there


def kept_by_sources(name: Callable[[], str], make: Callable[[Path], None], store: Path = STORE) -> tuple[Path, bool]:
    """Return what `kept` returns for a build whose name contains a hash of its sources.

    Args:
        name: Function that computes the name from the sources as they are now.
        make: Function that fills an empty folder from the sources.
        store: Folder of the builds.

    Raises:
        ToolError: The sources changed during the compilation, so the build is discarded.
    """
    begun_as = name()

    def checked(folder: Path) -> None:
        make(folder)
        if name() != begun_as:
            what, cause = f"{begun_as} not kept", "its sources changed during the compilation"
            raise ToolError(what, cause, "run the command again when the sources no longer change")

    return kept(begun_as, checked, store)


def _use(folder: Path, lock: TextIO) -> Path:
    os.utime(lock.fileno())
    _held[folder] = lock
    return folder


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        if PLAIN.fullmatch(str(scratch.resolve())):
            make(scratch)
        else:  # make fails on paths with special characters
            with tempfile.TemporaryDirectory(dir=plain_folder()) as elsewhere:
                make(Path(elsewhere))
                shutil.copytree(elsewhere, scratch, symlinks=True, dirs_exist_ok=True)
        _list_files(scratch)
        scratch.rename(folder)
    except (SanlabError, OSError) as error:
        full = _full(folder.parent, str(error))
        shutil.rmtree(scratch, ignore_errors=True)
        if full:
            raise full from error
        raise
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def remove_damaged(folder: Path) -> None:
    """Remove a damaged build if it exists; programs that run from it keep their open files."""
    if folder.is_dir():
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
        with suppress(FileNotFoundError):
            folder.rename(aside / "damaged")
        shutil.rmtree(aside, ignore_errors=True)


def _full(store: Path, text: str) -> ToolError | None:
    """Return the error for a full disk, or None if the disk has space and no compiler reported otherwise."""
    room = os.statvfs(store)
    free, files = room.f_bavail * room.f_frsize, room.f_favail or not room.f_files
    said = next((one for one in FULL if one in text), "")
    if not said and free >= LEAST_BYTES and files:
        return None
    cause = f"{said or FULL[0]}: {store} has {free / 1e6:.1f} MB left"
    return ToolError("not built", cause, "free some space, or choose another folder for builds with SANLAB_BUILDS")


def _lock_file(folder: Path) -> Path:
    """Return the lock file of a build, whose time is that of the last use."""
    return folder.parent / f".{folder.name}.lock"


def _making_file(folder: Path) -> Path:
    """Return the file that the maker of a build locks."""
    return folder.parent / f".{folder.name}.making.lock"


def _locked(path: Path, kind: int) -> TextIO:
    """Return an open, locked file. Raises BlockingIOError if `kind` does not wait and another process holds
    the lock.
    """
    while True:
        handle = path.open("a", encoding="utf-8")
        try:
            fcntl.flock(handle, kind)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                    return handle
        except BaseException:
            handle.close()
            raise
        handle.close()  # it was removed while we waited


def _limit_bytes() -> float:
    text = os.environ.get(LIMIT, "").strip() or str(DEFAULT_GB)
    try:
        return float(text) * 1e9
    except ValueError:
        words = f"{LIMIT}={text!r}", "not a number", "give the size in GB, such as 8"
        raise ConfigError("environment", 0, *words) from None


def _size(folder: Path) -> int:
    """Return the bytes on disk; another process may be removing the folder meanwhile."""
    size = 0
    for at, _, files in os.walk(folder):  # skips folders that vanish
        for name in files:
            with suppress(FileNotFoundError):
                size += os.lstat(Path(at, name)).st_blocks * 512
    return size


def _trim(store: Path, limit: float) -> None:
    """Remove scratch folders of killed builders, then the least recently used builds above the limit."""
    folders = [path for path in store.iterdir() if path.is_dir()]
    for scratch in (path for path in folders if path.name.startswith(".")):
        _remove(scratch, scratch.with_name(scratch.name[1:].rsplit("-", 1)[0]))
    builds = [path for path in folders if not path.name.startswith(".")]
    total = sum(sizes := [_size(path) for path in builds])
    for _, size, folder in sorted((_last_use(path), size, path) for path, size in zip(builds, sizes, strict=True)):
        if total <= limit:
            return
        if _remove(folder, folder):
            total -= size


def _last_use(folder: Path) -> float:
    """Return the time of the last use; 0 for a folder without a lock file."""
    with suppress(FileNotFoundError):
        return _lock_file(folder).stat().st_mtime
    return 0.0


def _remove(folder: Path, locked_by: Path) -> bool:
    """Remove a folder and return True, unless another process holds the lock of that build."""
    if locked_by in _held:
        return False
    try:
        lock = _locked(_lock_file(locked_by), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    with lock:
        shutil.rmtree(folder, ignore_errors=True)
        if folder == locked_by:
            _lock_file(folder).unlink(missing_ok=True)
            _making_file(folder).unlink(missing_ok=True)
    return True
