"""`sanlab.sweep`: run one study at each point of some axes in a child process, as `sanlab sweep` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from .child import call
from .errors import RefusedError
from .running import TABLE, error_of, fresh
from .settings import Setting, text, words


def sweep(
    study: str,
    axes: str | Mapping[str, Iterable[Setting] | Setting] = "",
    settings: Mapping[str, Setting] | None = None,
    /,
    *,
    designs: Mapping[str, Mapping[str, Setting]] | None = None,
    sim: str = "verilator",
    seed: int = 1,
    cluster: str | PathLike[str] = "",
    profile: str = "",
    workers: int = 0,
    out: str | PathLike[str] | None = None,
    check: bool = True,
    **options: Setting,
) -> Any:
    """Run one study at each point of some axes and return the table, one row a point.

    Args:
        study: Name of the study.
        axes: Values of each axis by its key, `{"hosts": [2, 4], "size": "0:4096:x2"}`, or the text of `AXES=`.
        settings: Settings of all points; also accepted by name.
        designs: Settings by the name of a design, an axis of its own: `{"base": {}, "wide": {"pci.width": 64}}`. The
            column `design` of the table has the names.
        sim: Name of the simulator.
        seed: Seed of all points, unless it is an axis.
        cluster: Cluster of all points, unless `hosts` is an axis.
        profile: Hardware profile of all points, unless it is an axis.
        workers: Number of points that run at a time; 0: number of processors.
        out: Folder of table and plot; a new one in `sim_build/runs` by default.
        check: False to return the table also if points failed; their rows have `passed` 0 and `failure`.
        **options: Settings by name.

    Returns:
        A `pyarrow.Table`; `.to_pandas()` converts it to a pandas frame.

    Raises:
        RefusedError: Invalid input.
        FailedError: A point failed.
    """
    folder, new = (fresh(f"{study}-sweep"), True) if out is None else (Path(out).absolute(), False)
    along = axes if isinstance(axes, str) else words({key: _values(key, one) for key, one in axes.items()})
    named = "; ".join(f"{name}: {words(one)}" for name, one in (designs or {}).items())
    given = [f"--sim={sim}", f"--seed={seed}", f"--cluster={fspath(cluster)}", f"--profile={profile}"]
    given += [f"--set={words({**(settings or {}), **options})}", f"--axes={along}", f"--designs={named}"]
    given += [f"--workers={workers or ''}", f"--out={folder}"]
    ended = call(["sweep", *given, "--", study])
    table = folder / TABLE
    if ended.code and (check or ended.code != 1 or not table.exists()):
        if new:
            with suppress(OSError):  # nothing was left
                folder.rmdir()
        raise error_of(ended, folder)
    return import_module("pyarrow.parquet").read_table(table)


def _values(key: str, values: Iterable[Setting] | Setting) -> str:
    """Return the values of an axis as in AXES. Raises RefusedError for a value with a comma."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return text(values)
    typed = [text(value) for value in values]
    for value in typed:
        if "," in value:
            raise RefusedError(f"axis {key}: value {value!r} has a comma; name it in designs instead")
    return ",".join(typed)
