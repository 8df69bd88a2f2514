"""What a run leaves in `results.json` (design 8): schema, atomic writer, strict reader, and when two runs are equal.

A file is either whole or not there: it is written beside its place, flushed to the disk and then renamed. JSON has no
infinity and no NaN, so neither has a result.
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

SCHEMA_VERSION = 2
WALL = ("wall_", "python_share")
"""What begins so comes from wall time: it may differ between any two runs, wherever it stands."""
PER_SIMULATOR = ("simulator", "cost")
"""What may also differ between simulators, and with clocks always on."""
PER_MACHINE = ("versions", "commits")
"""Fields that may differ between machines and checkouts, whose results must be equal."""
PER_RUN = ("given", "settings/run.")
"""Fields that may differ because settings `run.*` change how a run is done and not what it gives."""


class ResultsError(SanlabError):
    """A `results.json` that cannot be written or read."""


class Kind(str, Enum):
    """How a measured value relates to a published one (readings A13)."""

    PREDICTED = "predicted"
    """Came out; nothing was set for it."""
    STRUCTURE = "structure"
    """Came out only after firmware or library had been rebuilt in view of it."""
    CALIBRATED = "calibrated"
    """Something was tuned until it came out."""
    INPUT = "input"
    """Went in, and was measured again as a check."""
    ESTIMATED = "estimated"
    """The paper's own estimate."""
    QUOTED = "quoted"
    """Stands for comparison only: what is measured beside it, if anything, is not judged."""


@dataclass(frozen=True)
class Series:
    """A curve: points (x, y) with their units."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    x_unit: str
    y_unit: str


@dataclass(frozen=True)
class Comparison:
    """A published value beside ours. `measured` and `ratio` (measured / published) are None for a quoted value; `first`
    is what was measured first of all, None where nobody recorded it.
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
    """What the run cost: clock edges evaluated, wakes of Python, wall time in both, messages delivered."""

    cycles: int = 0
    python_wakes: int = 0
    wall_rtl_s: float = 0.0
    wall_python_s: float = 0.0
    messages: int = 0
    python_share: float = 0.0
    """Python's share of the run's whole wall time: `wall_python_s / wall_s`, 0 to 1."""


@dataclass(frozen=True)
class Results:
    """One run of one study: the content of `results.json`."""

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
    """Every setting in force by key: of the profile, of study and layers, of the run and its faults."""
    given: tuple[str, ...] = ()
    """Keys of the settings that the user gave."""
    firmware: str = ""
    """What the NICs execute: `python`, `c`, a word for each host (`c,python`), or `none` without a processor."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of sanlab, Python, packages and the simulator."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Git commit of sanlab and of each other root, with `+changes` where its files differed from the commit."""
    wall_begun: str = ""
    """Date and time at which the run began, in UTC: `2001-02-03T04:05:06Z`."""
    schema: int = SCHEMA_VERSION

    def as_json(self) -> dict[str, Any]:
        """Plain values, `schema` first."""
        plain = asdict(self)
        for row in plain["published"]:
            row["kind"] = row["kind"].value
        return {"schema": plain.pop("schema"), **plain}


def compare(
    name: str, source: str, published: float, measured: float | None, kind: Kind, first: float | None = None
) -> Comparison:
    """A published value beside a measured one. The ratio is None when nothing is measured or the published is 0."""
    ratio = measured / published if measured is not None and published else None
    return Comparison(name, source, published, measured, ratio, kind, first)


def write_results(results: Results, path: Path) -> None:
    """Write `results.json` at once or not at all. ResultsError when the disk refuses or a number is not finite."""
    plain = results.as_json()
    for place, value in _leaves(plain):
        if isinstance(value, float) and not math.isfinite(value):
            raise ResultsError(
                "results not written", f"{place} is {value}", "a result is a finite number; leave it out"
            )
    write_atomically(path, json.dumps(plain, indent=1, allow_nan=False) + "\n")


def write_atomically(path: Path, content: str | Iterable[bytes]) -> None:
    """Write a file so that it is never seen half written, whatever happens. ResultsError when the disk refuses.

    `content`: text, written as UTF-8, or the file's bytes part by part.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.writelines([content.encode()] if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        cause, remedy = f"{path}: {error.strerror}", "free space or correct the rights, and run again"
        raise ResultsError("results not written", cause, remedy) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def read_results(path: Path) -> Results:
    """Read `results.json`. ResultsError when it is missing, truncated, of another schema, or lacks a part."""
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
    values["published"] = tuple(Comparison(**{**row, "kind": Kind(row["kind"])}) for row in plain["published"])
    values["cost"] = Cost(**plain["cost"])
    return Results(**values)


def differences(one: Results, other: Results, same_simulator: bool = True) -> list[str]:
    """Where two runs of one seed differ though they must not, as `place: value != value`; empty when they agree.

    Between runs on one simulator wall times may differ, versions and commits, and settings `run.*`. Without
    `same_simulator` so may `simulator` and `cost`; that is also how a run with clocks always on is compared.
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
    """All plain values with their path; an empty table or list is a value of its own."""
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from _leaves(part, f"{place}/{name}".lstrip("/"))
    elif isinstance(value, (list, tuple)) and value:
        for index, part in enumerate(value):
            yield from _leaves(part, f"{place}/{index}")
    else:
        yield place, value
