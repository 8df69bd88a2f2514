"""Published values of papers, read from `published.toml`. Reports compare them with metrics; studies do not contain any
(readings A13).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError, nearest
from pymodels.published_roles import (
    Discrepancy,
    Family,
    Role,
    Scale,
    check_names,
    check_role,
    improvement,
    load_classes,
)
from pymodels.results import Comparison, Kind, compare
from pymodels.toml import read_toml

FILE = Path(__file__).with_name("published.toml")
ANY = "any"
"""Profile of a quoted value that belongs to a study on every profile."""
OPTIONAL = (
    *("within", "first", "recovered", "changed", "given", "settings", "over", "shown"),
    *("duplicate_of", "scored", "processes", "peak"),
)
"""Optional keys of an entry; `first` and `within` are optional only for quoted values."""
UNRECORDED = "not recorded: "
"""Prefix of a `first` that is a text: the first measured value is unknown; the reason follows."""


@dataclass(frozen=True)
class Published:
    """Published value and the metric that it is compared with.

    Attributes:
        name: Name of the row.
        source: Paper and place in it.
        value: The published value.
        unit: Unit of the value.
        kind: Relation between the published and the measured value.
        study: Study that measures the metric.
        metric: Name of the metric in the study's results.
        profile: Profiles of NIC and host (`nic+host`), or `ANY`.
        within: Required agreement: a fraction of the value, or [least, greatest]; None if nothing is required.
        first: Value of the first run of the study, before any change made in view of the published value; a text that
            begins with `UNRECORDED` if unknown; None for a quoted value, except a shown one that was measured.
        recovered: True if `first` was not recorded at the time: it is the oldest value on a page of the repository, or
            the result of running the commit that added the study.
        changed: Names of the changes that moved the measured value since then (see `load_changes`), in order.
        given: Calibrated values that a prediction depends on, as keys of its profile; `*` stands for any letters.
        settings: Settings of the run that measures the value, as in SET; empty for the study's default run.
        over: Metric by which `metric` is divided, if the value is a ratio.
        family: Group of rows whose systems share uncertain values.
        table: Table, figure or section of the paper that is left out together.
        role: Use of the row in calibration.
        duplicate_of: Name of the row from which the value follows; empty otherwise.
        sd: Standard deviation of the published value, in its unit: rounding and resolution.
        discrepancy: Class of model discrepancy.
        scored: Scale of the comparison.
        processes: Number of processes of a speed-up scored as overhead.
        peak: Name of the row with the peak of a half bandwidth.
    """

    name: str
    source: str
    value: float
    unit: str
    kind: Kind
    study: str
    metric: str
    profile: str
    within: float | list[float] | None = None
    first: float | str | None = None
    recovered: bool = False
    changed: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    settings: str = ""
    over: str = ""
    shown: bool = False
    """True if a report shows the measured value beside a quoted value, without judging it."""
    family: str = ""
    table: str = ""
    role: Role = Role.TEST
    duplicate_of: str = ""
    sd: float = 0.0
    discrepancy: str = ""
    scored: Scale = Scale.VALUE
    processes: int = 0
    peak: str = ""

    @property
    def measurable(self) -> bool:
        """True if a report shows a measured value beside the published one."""
        return self.kind is not Kind.QUOTED or self.shown

    @property
    def first_value(self) -> float | None:
        """First measured value, or None if it is unknown."""
        return None if isinstance(self.first, str) else self.first

    @property
    def of_several(self) -> bool:
        """True if the value needs more than the study's default run on its profile."""
        return bool(self.settings or self.over)

    def beside(self, measured: float | None) -> Comparison:
        """Return the comparison with a measured value for `results.json`; a quoted value that is not `shown` ignores
        it.
        """
        shown = measured if self.measurable else None
        return compare(self.name, self.source, self.value, shown, self.kind, self.first_value)

    def agrees(self, measured: float) -> bool:
        """Return True if a measured value is within the required agreement, or if none is required."""
        if self.within is None:
            return True
        if self.scored is Scale.IMPROVEMENT:
            measured = improvement(measured)
        if isinstance(self.within, list):
            least, most = self.within
            return least <= measured <= most
        return abs(measured - self.value) <= self.within * abs(self.value) + 1e-12


@dataclass(frozen=True)
class Change:
    """Change of the models that moved measured values after their first run: what was changed, and why."""

    what: str
    why: str


def load_published(path: Path = FILE) -> tuple[Published, ...]:
    """Return all published values. Raises ConfigError for an incomplete entry, an unknown kind or an unknown change."""
    data, text = read_toml(path)
    starts = [number for number, row in enumerate(text.splitlines(), 1) if row.strip() == "[[value]]"]
    changes = load_changes(path)
    classes, families = load_classes(path, data, text)
    found = tuple(_entry(path, line, entry) for line, entry in zip(starts, data.get("value", []), strict=False))
    names = {row.name: row for row in found}
    for line, row in zip(starts, found, strict=False):
        check_names(path, line, row, names, {"family": families, "discrepancy": classes})
        for name in row.changed:
            if name not in changes:
                raise ConfigError(str(path), line, "unknown change", repr(name), nearest(name, changes))
    return found


def load_discrepancies(path: Path = FILE) -> dict[str, Discrepancy]:
    """Return the classes of discrepancy by name. Raises ConfigError for an invalid class."""
    return load_classes(path, *read_toml(path))[0]


def load_families(path: Path = FILE) -> dict[str, Family]:
    """Return the families by name. Raises ConfigError for an invalid family."""
    return load_classes(path, *read_toml(path))[1]


def load_changes(path: Path = FILE) -> dict[str, Change]:
    """Return the changes by name. Raises ConfigError for a change without `what` or `why`."""
    data, text = read_toml(path)
    found = {}
    for name, entry in data.get("change", {}).items():
        if set(entry) != {"what", "why"} or not all(isinstance(text, str) and text for text in entry.values()):
            line = next((at for at, row in enumerate(text.splitlines(), 1) if row == f"[change.{name}]"), 0)
            raise ConfigError(str(path), line, "change incomplete", f"{name} has {', '.join(entry)}", "write what, why")
        found[name] = Change(**entry)
    return found


def _entry(path: Path, line: int, entry: dict[str, Any]) -> Published:
    known = [f.name for f in fields(Published)]
    for key in entry:
        if key not in known:
            raise ConfigError(str(path), line, f"unknown key {key!r}", "no published value has it", nearest(key, known))
    for key in known:
        if key not in entry and key not in OPTIONAL:
            raise ConfigError(str(path), line, "value missing", f"the entry has no {key}", f"add {key} = ...")
    if not _is_number(entry["value"]):
        raise ConfigError(str(path), line, "wrong type", f"value is {entry['value']!r}", "write a number")
    if not _is_agreement(entry.get("within", 0)):
        remedy = "write a fraction of the value, or [least, greatest]"
        raise ConfigError(str(path), line, "wrong type", f"within is {entry['within']!r}", remedy)
    kinds = [kind.value for kind in Kind]
    if entry["kind"] not in kinds:
        raise ConfigError(str(path), line, "unknown kind", repr(entry["kind"]), nearest(str(entry["kind"]), kinds))
    check_role(path, line, entry)
    _check_first(path, line, entry)
    if entry["kind"] != Kind.QUOTED.value and "within" not in entry:
        cause = "the entry has no within, the required agreement"
        raise ConfigError(str(path), line, "value missing", cause, "add within = ..., before the study is run")
    changed = entry.get("changed", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        raise ConfigError(str(path), line, "wrong type", f"changed is {changed!r}", "write a list of names of changes")
    words: dict[str, type[Enum]] = {"kind": Kind, "role": Role, "scored": Scale}
    typed: dict[str, Enum] = {key: kind(entry[key]) for key, kind in words.items() if key in entry}
    return Published(**{**entry, **typed, "changed": tuple(changed), "given": tuple(entry.get("given", ()))})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_agreement(value: object) -> bool:
    if isinstance(value, list):
        return len(value) == 2 and all(map(_is_number, value)) and value[0] <= value[1]
    return _is_number(value)


def _check_first(path: Path, line: int, entry: Mapping[str, Any]) -> None:
    """Raise ConfigError unless a measured entry has a first value, or a reason why it is unknown."""
    first, recovered, what = entry.get("first"), entry.get("recovered", False), "first value"
    shown = entry.get("shown", False)
    if shown is not False and (shown is not True or entry["kind"] != Kind.QUOTED.value):
        raise ConfigError(str(path), line, "wrong type", f"shown is {shown!r}", "write true, of a quoted value")
    if entry["kind"] == Kind.QUOTED.value:
        if first is not None and not (shown and _is_number(first)):
            raise ConfigError(str(path), line, what, "a quoted value is not measured", "leave out first")
    elif first is None:
        cause = "the entry has no first, the value of the first run before any change in view of the published value"
        raise ConfigError(str(path), line, what, cause, "run the study and add first = ...")
    elif not _is_number(first) and not (isinstance(first, str) and first.removeprefix(UNRECORDED) not in (first, "")):
        raise ConfigError(str(path), line, what, f"first is {first!r}", f'write a number, or "{UNRECORDED}<why>"')
    if recovered is not False and not (recovered is True and _is_number(first)):
        raise ConfigError(
            str(path), line, what, f"recovered is {recovered!r}", "write true, of a first that is a number"
        )


def comparisons(study: str, profile: str, metrics: Mapping[str, float]) -> tuple[Comparison, ...]:
    """Return the comparisons of a study's metrics with published values, in the order of the file.

    Values whose metric was not measured are left out unless they are quoted, as are values that need several runs or
    other settings.

    Args:
        study: Name of the study.
        profile: Profiles of the run (`nic+host`).
        metrics: Measured values by name.
    """
    rows = [p for p in load_published() if p.study == study and p.profile in (profile, ANY) and not p.of_several]
    return tuple(p.beside(metrics.get(p.metric)) for p in rows if p.kind is Kind.QUOTED or p.metric in metrics)


def judged(study: str) -> tuple[Published, ...]:
    """Return the published values, of any profile, with which the default run of a study must agree."""
    rows = [p for p in load_published() if p.study == study and not p.of_several]
    return tuple(p for p in rows if p.kind is not Kind.QUOTED and p.within is not None)
