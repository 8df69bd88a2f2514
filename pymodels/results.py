"""Schema, atomic writer and strict reader of `results.json`, and the comparison of two runs (design 8).

A results file is complete or absent: it is written under a temporary name, flushed to the disk and renamed. Values are
finite, since JSON has neither infinity nor NaN.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any

from pymodels.errors import SanlabError

SCHEMA_VERSION = 3
WALL = ("wall_", "python_share")
"""Prefixes of fields that depend on wall time; at any depth they may differ between two runs."""
PER_SIMULATOR = ("simulator", "cost")
"""Further fields that may differ between simulators, and between gated clocks and clocks that always run."""
PER_MACHINE = ("versions", "commits")
"""Fields that may differ between machines and checkouts with equal results."""
PER_RUN = ("given", "settings/run.")
"""Fields that depend on the settings `run.*`, which change how a run is executed but not its results."""


class ResultsError(SanlabError):
    """Failure to write or read `results.json`."""


class Kind(str, Enum):
    """Relation between a measured value and the published value that it is compared with (readings A13)."""

    PREDICTED = "predicted"
    """Result of the model; nothing was adjusted for it."""
    STRUCTURE = "structure"
    """Result of the model after firmware or library had been restructured in view of the published value."""
    CALIBRATED = "calibrated"
    """Result of a parameter that was adjusted to the published value."""
    INPUT = "input"
    """Input of the model, measured again as a check."""
    ESTIMATED = "estimated"
    """Estimate by the paper's authors."""
    QUOTED = "quoted"
    """Value for orientation only; a measured value beside it is not judged."""


@dataclass(frozen=True)
class Series:
    """Curve of points (x, y) with units."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    x_unit: str
    y_unit: str


@dataclass(frozen=True)
class Comparison:
    """Published value and measured value.

    Attributes:
        name: Name of the row.
        source: Paper and place in it.
        published: The published value.
        measured: The measured value; None for a quoted value.
        ratio: `measured / published`, or None.
        kind: Relation between the two values.
        first: The first measured value; None if it was not recorded.
    """

    name: str
    source: str
    published: float
    measured: float | None
    ratio: float | None
    kind: Kind
    first: float | None = None


@dataclass(frozen=True)
class Cost:
    """Cost of a run: evaluated clock edges, calls of Python, wall time in both, delivered messages."""

    cycles: int = 0
    python_wakes: int = 0
    wall_rtl_s: float = 0.0
    wall_python_s: float = 0.0
    messages: int = 0
    python_share: float = 0.0
    """Share of Python in the wall time of the whole run: `wall_python_s / wall_s`, 0 to 1."""


@dataclass(frozen=True)
class Results:
    """Content of `results.json`: one run of one study."""

    study: str
    simulator: str
    seed: int
    cluster: Mapping[str, Any]
    profile: str
    sim_time_ns: int
    wall_s: float
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    published: tuple[Comparison, ...] = ()
    cost: Cost = field(default_factory=Cost)
    settings: Mapping[str, float | str] = field(default_factory=dict)
    """All settings of the run by key: of profiles, study, layers, run and faults."""
    given: tuple[str, ...] = ()
    """Keys of the settings that the user set."""
    firmware: str = ""
    """Execution of the NIC firmware: `python`, `c`, a word for each host (`c,python`), or `none` without a NIC
    processor.
    """
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of sanlab, Python, packages and the simulator."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Git commit of sanlab and of each other root, with `+changes` if files differ from the commit."""
    wall_begun: str = ""
    """Date and time of the start of the run, in UTC: `2001-02-03T04:05:06Z`."""
    warnings: tuple[str, ...] = ()
    """Settings without effect and other remarks on the validity of the run, each once."""
    schema: int = SCHEMA_VERSION

    def as_json(self) -> dict[str, Any]:
        """Return the results as plain values for JSON, `schema` first."""
        plain = asdict(self)
        for row in plain["published"]:
            row["kind"] = row["kind"].value
        return {"schema": plain.pop("schema"), **plain}


def compare(
    name: str, source: str, published: float, measured: float | None, kind: Kind, first: float | None = None
) -> Comparison:
    """Return a comparison whose ratio is None if there is no measured value or the published value is 0."""
    ratio = measured / published if measured is not None and published else None
    return Comparison(name, source, published, measured, ratio, kind, first)


def write_results(results: Results, path: Path) -> None:
    """Write `results.json` atomically. Raises ResultsError if writing fails or a number is not finite."""
    plain = results.as_json()
    for place, value in _leaves(plain):
        if isinstance(value, float) and not math.isfinite(value):
            raise ResultsError(
                "results not written", f"{place} is {value}", "a result is a finite number; leave it out"
            )
    write_atomically(path, json.dumps(plain, indent=1, allow_nan=False) + "\n")


def write_atomically(path: Path, content: str | Iterable[bytes | memoryview], durable: bool = True) -> None:
    """Write a file atomically, so that readers see the old or the new content only.

    Args:
        path: The file; missing folders are created.
        content: Text, written as UTF-8, or the parts of the file's bytes.
        durable: False to return before the content is on the disk; the file then survives the end of the process only.

    Raises:
        ResultsError: Writing fails.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.writelines([content.encode()] if isinstance(content, str) else content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        cause, remedy = f"{path}: {error.strerror}", "free space or correct the rights, and run again"
        raise ResultsError("results not written", cause, remedy) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def read_results(path: Path) -> Results:
    """Return the content of a `results.json`. Raises ResultsError if it is missing, truncated, incomplete, or of
    another schema version.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError("no results", f"{path}: {error.strerror}", "run the study first") from None
    except ValueError as error:
        raise ResultsError(
            "results unreadable", f"{path} is truncated or no JSON ({error})", "run the study again"
        ) from None
    version = plain.get("schema") if isinstance(plain, dict) else None
    if version != SCHEMA_VERSION:
        has = "has no schema" if version is None else f"has schema {version!r}, this sanlab reads {SCHEMA_VERSION}"
        raise ResultsError("results of another version", f"{path} {has}", "run the study again")
    try:
        return _from_json(plain)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ResultsError("results incomplete", f"{path}: {reason}", "run the study again") from None


def _from_json(plain: dict[str, Any]) -> Results:
    values = {f.name: plain[f.name] for f in fields(Results)}
    values["series"] = {
        name: Series(tuple(s["x"]), tuple(s["y"]), s["x_unit"], s["y_unit"]) for name, s in plain["series"].items()
    }
    values["given"] = tuple(plain["given"])
    values["warnings"] = tuple(plain["warnings"])
    values["published"] = tuple(Comparison(**{**row, "kind": Kind(row["kind"])}) for row in plain["published"])
    values["cost"] = Cost(**plain["cost"])
    return Results(**values)


def differences(one: Results, other: Results, same_simulator: bool = True) -> list[str]:
    """Return the differences between two runs of one seed that should be equal, as `place: value != value`.

    Wall times, versions, commits and settings `run.*` may differ.

    Args:
        one: Results of the first run.
        other: Results of the second run.
        same_simulator: False to allow differences in `simulator` and `cost` too, as between simulators, or between
            gated clocks and clocks that always run.
    """
    left, right = (dict(_leaves(r.as_json())) for r in (one, other))
    found = []
    for place in sorted(left.keys() | right.keys()):
        parts = place.split("/")
        free = any(part.startswith(WALL) for part in parts) or parts[0] in PER_MACHINE or place.startswith(PER_RUN)
        free = free or (not same_simulator and parts[0] in PER_SIMULATOR)
        a, b = left.get(place, "nothing"), right.get(place, "nothing")
        if not free and a != b:
            found.append(f"{place}: {a!r} != {b!r}")
    return found


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all plain values with their paths; an empty table or list counts as a value."""
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from _leaves(part, f"{place}/{name}".lstrip("/"))
    elif isinstance(value, (list, tuple)) and value:
        for index, part in enumerate(value):
            yield from _leaves(part, f"{place}/{index}")
    else:
        yield place, value
