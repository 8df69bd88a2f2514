"""`sanlab.run`: run one study in a child process, as `sanlab run` does."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path

from . import tree
from .child import Ended, call
from .errors import FailedError, RefusedError
from .result import RESULTS, Run, load
from .settings import REFUSED, Setting
from .settings import words as text_of

TABLE = "points.parquet"
FAILED = "failed: "
"""Prefix of the command's output lines that report a failure."""


def run(
    study: str,
    settings: Mapping[str, Setting] | None = None,
    /,
    *,
    sim: str = "verilator",
    seed: int = 1,
    cluster: str | PathLike[str] = "",
    profile: str = "",
    waves: bool = False,
    out: str | PathLike[str] | None = None,
    **options: Setting,
) -> Run:
    """Run one study and return its results if it passes.

    Args:
        study: Name of the study.
        settings: Settings as in `SET=`, for names with a dot: `{"via.preset": "bvia2"}`. `sanlab.options(study)` lists
            all settings.
        sim: Name of the simulator.
        seed: Seed of the run.
        cluster: Cluster file or folder.
        profile: Name of the hardware profile.
        waves: True to write waves.
        out: Folder for the results; a new one in `sim_build/runs` by default.
        **options: Settings by name, such as `size=64`.

    Raises:
        RefusedError: Invalid input.
        FailedError: The study, an invariant or the simulation failed.
    """
    folder, new = (fresh(study), True) if out is None else (Path(out).absolute(), False)
    given = text_of({**(settings or {}), **options})
    words = [f"--sim={sim}", f"--seed={seed}", f"--cluster={fspath(cluster)}", f"--profile={profile}", f"--set={given}"]
    earlier = _written(folder)
    ended = call(["run", *words, *(["--waves"] if waves else []), f"--out={folder}", "--", study])
    if ended.code:
        if new:
            with suppress(OSError):  # a rejected run leaves no folder
                folder.rmdir()
        raise error_of(ended, folder if _written(folder) != earlier else None)
    return load(folder, ended.out)


def fresh(study: str) -> Path:
    """Create and return a new folder for a run, unique also among processes."""
    runs = tree.out() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = runs / f"{study.replace('/', '_')}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _written(folder: Path) -> tuple[int, int] | None:
    """Return the identity of a folder's results, which changes with each run; None without results."""
    try:
        status = (folder / RESULTS).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def error_of(ended: Ended, folder: Path | None) -> RefusedError | FailedError:
    """Return the error of a failed command; `folder` is that of its results, if any."""
    said = [ended.err.strip(), *(line for line in ended.out.splitlines() if line.startswith(FAILED))]
    text = "\n".join(filter(None, said)) or f"the command ended with exit code {ended.code}"
    if ended.code == REFUSED:
        return RefusedError(text, ended.code)
    there = folder is not None and any((folder / name).exists() for name in (RESULTS, TABLE))
    return FailedError(text, ended.code, str(folder) if there else "")
