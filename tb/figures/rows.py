"""Accuracy of each figure: published value, first and last measurement, interval, and judgement."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from pymodels.published import Published
from pymodels.published_roles import Role
from pymodels.published_scores import published_score, score, score_sd
from pymodels.results import Kind
from tb.figures.measured import Runs, measurement, typed
from tb.figures.record import Interval, Today

NARROW = 0.15
"""Maximum width of a narrow interval to either side, as a fraction of the published value."""
MOVED = 0.005
"""Relative difference from the first measurement above which a row must name a change."""
MEASURED = ("%", "B", "KB", "MB/s", "channels", "times", "us")
"""Units of measured quantities; other units are counts. Limits of channels are read from a curve."""
WORTH = (Kind.PREDICTED, Kind.STRUCTURE, Kind.ESTIMATED, Kind.CALIBRATED, Kind.INPUT, Kind.QUOTED)
"""Kinds of values, most significant first."""


class Group(str, Enum):
    """Group of rows on the page, in its order; the values are the headings."""

    TEST = "Predictions"
    TRAIN = "Conditioning values"
    BOUND = "Bounds and orders"
    TRIVIAL = "Trivial rows"
    QUOTED = "Quoted"


GROUPS = {Role.TEST: Group.TEST, Role.TRAIN: Group.TRAIN, Role.BOUND: Group.BOUND}
"""Groups of roles; the other roles are trivial."""


class Verdict(str, Enum):
    """Judgement of a figure, best first."""

    REPRODUCED = "reproduced"
    """The published value is inside a narrow interval."""
    WITHIN = "within"
    """Agreement as required by `within`; the interval is wide or unknown."""
    MET = "met"
    """Bound or order that the measured value meets."""
    OUTSIDE = "outside"
    """Agreement worse than required by `within`."""
    MISSED = "not met"
    """Bound or order that the measured value does not meet."""
    BESIDE = "not judged"
    """Quoted value next to a measured one."""
    NONE = "not measured"
    """Value without a measurement."""


@dataclass(frozen=True)
class Row:
    """Published value with its measurement and interval."""

    value: Published
    today: Today | None
    recorded: bool = False
    """True if the measurement comes from the record, not from a run on this machine."""
    outdated: Interval | None = None
    """Ignored interval, computed around a run with other settings or another result."""
    peaks: tuple[float, float | None] | None = None
    """Published and measured peak in MB/s, for a half bandwidth."""

    @property
    def group(self) -> Group:
        """Group of the row on the page."""
        return Group.QUOTED if self.value.kind is Kind.QUOTED else GROUPS.get(self.value.role, Group.TRIVIAL)

    @property
    def counted(self) -> bool:
        """True for a count or a value that must agree exactly, for which an error in percent has no meaning."""
        return self.value.unit not in MEASURED or self.value.within == 0

    @property
    def published(self) -> float:
        """Published value on the scale of the comparison."""
        return published_score(self.value, self.peaks[0] if self.peaks else None)

    @property
    def sd(self) -> float:
        """Standard deviation of the published value on the scale of the comparison."""
        return score_sd(self.value, self.peaks[0] if self.peaks else None)

    def on_scale(self, measured: float) -> float:
        """Return a measured value on the scale of the comparison."""
        return score(self.value, measured, self.peaks[1] if self.peaks else None)

    @property
    def error(self) -> float:
        """Error of the measured value relative to the published one, both on the scale of the comparison.

        The error is infinite without a measurement. Bounds have none: the error is 0 or infinite.
        """
        if self.today is None:
            return math.inf
        if self.group is Group.BOUND:
            return 0.0 if self.value.agrees(self.today.measured) else math.inf
        return apart(self.on_scale(self.today.measured), self.published)

    @property
    def verdict(self) -> Verdict:
        """Judgement of the row."""
        if self.today is None:
            return Verdict.NONE
        if self.value.kind is Kind.QUOTED:
            return Verdict.BESIDE
        if self.group is Group.BOUND:
            return Verdict.MET if self.value.agrees(self.today.measured) else Verdict.MISSED
        if not self.value.agrees(self.today.measured):
            return Verdict.OUTSIDE
        interval, published = self.today.interval, self.value.value
        if interval is None or not interval.low <= published <= interval.high:
            return Verdict.WITHIN
        narrow = interval.high - interval.low <= 2 * NARROW * abs(published)
        return Verdict.REPRODUCED if narrow and self.value.kind in WORTH[:3] else Verdict.WITHIN

    @property
    def moved(self) -> bool:
        """True if the value differs from the first measurement."""
        first = self.value.first_value
        return first is not None and self.today is not None and apart(self.today.measured, first) > MOVED

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON; `first` is None if unknown."""
        value, today = self.value, self.today
        interval = today.interval if today else None
        return {
            "name": value.name,
            "source": value.source,
            "kind": value.kind.value,
            "family": value.family,
            "table": value.table,
            "role": value.role.value,
            "duplicate_of": value.duplicate_of,
            "scored": value.scored.value,
            "published_score": _finite(self.published),
            "measured_score": _finite(self.on_scale(today.measured)) if today else None,
            "sd": _finite(self.sd),
            "discrepancy": value.discrepancy,
            "error": None if self.group is Group.BOUND else _finite(self.error),
            "published": value.value,
            "unit": value.unit,
            "measured": today.measured if today else None,
            "first": value.first_value,
            "first_note": value.first if isinstance(value.first, str) else "recovered" if value.recovered else "",
            "low": interval.low if interval else None,
            "median": interval.median if interval else None,
            "high": interval.high if interval else None,
            "interval_of": interval.made if interval else "",
            "within": value.within,
            "verdict": self.verdict.value,
            "changed": list(value.changed),
            "given": list(value.given),
            "command": today.command if today else "",
            "commit": today.commit if today else "",
            "recorded": self.recorded,
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def apart(one: float, other: float) -> float:
    """Return the difference of two values relative to the second."""
    return abs(one - other) / abs(other) if other else (0.0 if one == other else math.inf)


def rows(
    values: Iterable[Published],
    runs: Runs,
    record: Mapping[str, Today],
    intervals: Mapping[str, Interval],
    commit: str = "",
) -> list[Row]:
    """Return all rows, best first.

    Args:
        values: Published values.
        runs: Runs with the present sources; values that none of them measured come from the record.
        record: Last measurements by value name.
        intervals: Intervals by value name. An interval counts only for the value around which it was computed.
        commit: Commit hash of `runs`.
    """
    found = [_row(value, runs, record.get(value.name), intervals.get(value.name), commit) for value in values]
    known = {row.value.name: row for row in found}
    found = [replace(row, peaks=_peaks(known.get(row.value.peak))) for row in found]
    verdicts, groups = list(Verdict), list(Group)

    def place(row: Row) -> tuple[int, int, int, float]:
        return groups.index(row.group), WORTH.index(row.value.kind), verdicts.index(row.verdict), row.error

    return sorted(found, key=place)


def _peaks(row: Row | None) -> tuple[float, float | None] | None:
    return (row.value.value, row.today.measured if row.today else None) if row else None


def _row(value: Published, runs: Runs, known: Today | None, interval: Interval | None, commit: str) -> Row:
    found = measurement(value, runs)
    recorded = found is None
    if found:
        measured, command = found[1], typed(found[0])
    elif known and value.measurable:
        measured, command, commit = known.measured, known.command, known.commit
    else:
        return Row(value, None)
    computed = [one for one in (interval, known.interval if known else None) if one is not None]
    fitting = next((one for one in computed if one.is_of(measured, command)), None)
    outdated = computed[0] if computed and fitting is None else None
    return Row(value, Today(measured, command, fitting, commit), recorded, outdated)


def of_group(found: Sequence[Row], group: Group) -> list[Row]:
    """Return the rows of one group in their order."""
    return [row for row in found if row.group is group]


def glance(found: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the summary of the page as pairs of label and number."""
    tests = [row for row in of_group(found, Group.TEST) if row.today is not None]
    predicted = [row for row in tests if row.value.kind is Kind.PREDICTED]
    counts = [row for row in predicted if row.counted]
    quantities = [row for row in predicted if not row.counted]
    rebuilt = [row for row in tests if row.value.kind is not Kind.PREDICTED]
    looked = [row for row in quantities if row.value.first_value is not None]
    bounds = [row for row in of_group(found, Group.BOUND) if row.today is not None]
    known = [(row.value.value, row.today.interval) for row in tests if row.today and row.today.interval]
    inside = sum(interval.low <= published <= interval.high for published, interval in known)
    then, today = _median([_first_error(row) for row in looked]), _median([row.error for row in looked])
    groups = [f"{len(of_group(found, group))} {group.value.lower()}" for group in Group]
    return [
        ("values published", str(len(found))),
        ("of them", ", ".join(groups)),
        ("predicted quantities, within the required agreement", _near(quantities)),
        ("their median error", _median([row.error for row in quantities])),
        (f"median error of the {len(looked)} with a first value: first, today", f"{then}, {today}"),
        ("predicted counts, within the required agreement", _near(counts)),
        ("tests rebuilt for or estimated, within the required agreement", _near(rebuilt)),
        ("bounds and orders met", f"{sum(row.verdict is Verdict.MET for row in bounds)} of {len(bounds)}"),
        ("tests with an interval, published value inside", f"{inside} of {len(known)}"),
        ("reproduced", str(sum(row.verdict is Verdict.REPRODUCED for row in tests))),
    ]


def _near(found: Sequence[Row]) -> str:
    return f"{sum(row.verdict is not Verdict.OUTSIDE for row in found)} of {len(found)}"


def _first_error(row: Row) -> float:
    return apart(row.on_scale(row.value.first_value or 0.0), row.published)


def _median(errors: Sequence[float]) -> str:
    return f"{100 * statistics.median(errors):.1f} %" if errors else "-"
