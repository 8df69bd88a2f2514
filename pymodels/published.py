"""Published values, from the one file that holds them. Reports read it; studies name none of them (readings A13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError, nearest
from pymodels.results import Comparison, Kind, compare
from pymodels.toml import read_toml

FILE = Path(__file__).with_name("published.toml")
ANY = "any"
"""Profile of a value that is quoted wherever its study runs."""
OPTIONAL = ("within", "first", "recovered", "changed", "given", "settings", "over", "shown")
"""Keys that an entry need not have; `first` and `within` only where nothing is measured."""
UNRECORDED = "not recorded: "
"""How `first` begins, instead of a number, where the first value is not known; then why."""


@dataclass(frozen=True)
class Published:
    """A published value, and the metric of which study, on which profile (NIC and host; `ANY`), stands beside it.

    `within` is the agreement that is asked for: a fraction of the value, or the least and the greatest that agrees;
    None where none is. `first` is the value
    that the first run of its study gave, before anything was changed in view of it; a text that begins with
    `UNRECORDED` where it is not known; None where nothing is measured. `recovered` says that nobody wrote it down at
    the time: it is the oldest value that a page of the repository ever showed, or what the commit that brought the
    study gives when it is run again. `changed` names what moved the figure since then (`load_changes`), in order.
    `given`: what a prediction rests on that is calibrated to another figure. `settings`: of the run that measures it,
    as in SET; none where the study's own run does. `over`: the value is a ratio, of the metric over this one of the
    same study.
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
    given: str = ""
    settings: str = ""
    over: str = ""
    shown: bool = False
    """Of a quoted value: what a run of its study gives is shown beside it, and not judged."""

    @property
    def measurable(self) -> bool:
        """Whether what a run gives belongs beside it."""
        return self.kind is not Kind.QUOTED or self.shown

    @property
    def first_value(self) -> float | None:
        """The first value, None where it is not known."""
        return None if isinstance(self.first, str) else self.first

    @property
    def of_several(self) -> bool:
        """Whether it is measured by more than the study's run on its profile."""
        return bool(self.settings or self.over)

    def beside(self, measured: float | None) -> Comparison:
        """This value beside a measured one, for `results.json`; none for a quoted value that is not `shown`."""
        shown = measured if self.measurable else None
        return compare(self.name, self.source, self.value, shown, self.kind, self.first_value)

    def agrees(self, measured: float) -> bool:
        """Whether a measured value lies within the agreement asked for; True where none is."""
        if self.within is None:
            return True
        if isinstance(self.within, list):
            least, most = self.within
            return least <= measured <= most
        return abs(measured - self.value) <= self.within * abs(self.value) + 1e-12


@dataclass(frozen=True)
class Change:
    """Something that moved figures between their first look and today: what was changed, and why."""

    what: str
    why: str


def load_published(path: Path = FILE) -> tuple[Published, ...]:
    """All published values. ConfigError when an entry is incomplete, names an unknown kind or an unknown change."""
    data, text = read_toml(path)
    starts = [number for number, row in enumerate(text.splitlines(), 1) if row.strip() == "[[value]]"]
    changes = load_changes(path)
    found = tuple(_entry(path, line, entry) for line, entry in zip(starts, data.get("value", []), strict=False))
    for line, row in zip(starts, found, strict=False):
        for name in row.changed:
            if name not in changes:
                raise ConfigError(str(path), line, "unknown change", f"{name!r} is none", nearest(name, changes))
    return found


def load_changes(path: Path = FILE) -> dict[str, Change]:
    """The changes by name. ConfigError for one that does not say what was changed and why."""
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
        raise ConfigError(
            str(path), line, "unknown kind", f"{entry['kind']!r} is none", nearest(str(entry["kind"]), kinds)
        )
    _check_first(path, line, entry)
    if entry["kind"] != Kind.QUOTED.value and "within" not in entry:
        cause = "the entry has no within, the agreement that is asked for"
        raise ConfigError(str(path), line, "value missing", cause, "add within = ..., before the study is run")
    changed = entry.get("changed", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        raise ConfigError(str(path), line, "wrong type", f"changed is {changed!r}", "write a list of names of changes")
    return Published(**{**entry, "kind": Kind(entry["kind"]), "changed": tuple(changed)})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_agreement(value: object) -> bool:
    if isinstance(value, list):
        return len(value) == 2 and all(map(_is_number, value)) and value[0] <= value[1]
    return _is_number(value)


def _check_first(path: Path, line: int, entry: Mapping[str, Any]) -> None:
    """Whatever is measured has a first value, or says why it is not known."""
    first, recovered, what = entry.get("first"), entry.get("recovered", False), "first value"
    shown = entry.get("shown", False)
    if shown is not False and (shown is not True or entry["kind"] != Kind.QUOTED.value):
        raise ConfigError(str(path), line, "wrong type", f"shown is {shown!r}", "write true, of a quoted value")
    if entry["kind"] == Kind.QUOTED.value:
        if first is not None:
            raise ConfigError(str(path), line, what, "nothing is measured for a quoted value", "leave out first")
    elif first is None:
        cause = "the entry has no first, what its study measured before anything was changed in view of the figure"
        raise ConfigError(str(path), line, what, cause, "run the study and add first = ...")
    elif not _is_number(first) and not (isinstance(first, str) and first.removeprefix(UNRECORDED) not in (first, "")):
        raise ConfigError(str(path), line, what, f"first is {first!r}", f'write a number, or "{UNRECORDED}<why>"')
    if recovered is not False and not (recovered is True and _is_number(first)):
        raise ConfigError(
            str(path), line, what, f"recovered is {recovered!r}", "write true, of a first that is a number"
        )


def comparisons(study: str, profile: str, metrics: Mapping[str, float]) -> tuple[Comparison, ...]:
    """The published values that belong beside the metrics of a study on a profile (`nic+host`), in the file's order.

    A value whose metric the study did not measure is left out, unless it is quoted; so is one that takes more than one
    run, or other settings.
    """
    rows = [p for p in load_published() if p.study == study and p.profile in (profile, ANY) and not p.of_several]
    return tuple(p.beside(metrics.get(p.metric)) for p in rows if p.kind is Kind.QUOTED or p.metric in metrics)
