"""How good each figure is: a published value, what was measured first and last, its interval, and the judgement."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pymodels.published import Published
from pymodels.results import Kind
from tb.figures.measured import Runs, measurement, typed
from tb.figures.record import Interval, Today

NARROW = 0.15
"""An interval that spans at most so much of the published value to either side is narrow enough to reproduce it."""
MOVED = 0.005
"""A value that differs from its first look by more has moved, and the row says why."""
MEASURED = ("%", "B", "KB", "MB/s", "channels", "times", "us")
"""Units of what is measured; anything else is counted. Limits of channels are read from a curve."""
WORTH = (Kind.PREDICTED, Kind.STRUCTURE, Kind.ESTIMATED, Kind.CALIBRATED, Kind.INPUT, Kind.QUOTED)
"""The kinds, those that say most first."""


class Verdict(str, Enum):
    """What is to be said of a figure, the best first."""

    REPRODUCED = "reproduced"
    """The published value lies in the interval, and the interval is narrow."""
    WITHIN = "within"
    """As near as `within` asks for; the interval is wide, or not known."""
    OUTSIDE = "outside"
    """Not as near as `within` asks for."""
    BESIDE = "not judged"
    """Quoted, with what a run measures beside it."""
    NONE = "not measured"
    """By no run."""


@dataclass(frozen=True)
class Row:
    """A published value and all that is known of it."""

    value: Published
    today: Today | None
    recorded: bool = False
    """What was measured comes from the record, not from a run of this machine."""
    outdated: Interval | None = None
    """An interval that was computed, but around a run with other settings or another outcome: it does not count."""

    @property
    def counted(self) -> bool:
        """Whether it is a number of things, or asked for exactly: an error in percent says nothing of it."""
        return self.value.unit not in MEASURED or self.value.within == 0

    @property
    def error(self) -> float:
        """How far the measured value is from the published one, as a part of it; infinite where nothing is measured."""
        return math.inf if self.today is None else apart(self.today.measured, self.value.value)

    @property
    def verdict(self) -> Verdict:
        """The judgement."""
        if self.today is None:
            return Verdict.NONE
        if self.value.kind is Kind.QUOTED:
            return Verdict.BESIDE
        if not self.value.agrees(self.today.measured):
            return Verdict.OUTSIDE
        interval, published = self.today.interval, self.value.value
        if interval is None or not interval.low <= published <= interval.high:
            return Verdict.WITHIN
        narrow = interval.high - interval.low <= 2 * NARROW * abs(published)
        return Verdict.REPRODUCED if narrow and self.value.kind in WORTH[:3] else Verdict.WITHIN

    @property
    def moved(self) -> bool:
        """Whether today's value differs from the first look."""
        first = self.value.first_value
        return first is not None and self.today is not None and apart(self.today.measured, first) > MOVED

    def as_json(self) -> dict[str, Any]:
        """Plain values; `first` is None where it is not known."""
        value, today = self.value, self.today
        interval = today.interval if today else None
        return {
            "name": value.name,
            "source": value.source,
            "kind": value.kind.value,
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
            "given": value.given,
            "command": today.command if today else "",
            "commit": today.commit if today else "",
            "recorded": self.recorded,
        }


def apart(one: float, other: float) -> float:
    """How far a value is from another, as a part of the other."""
    return abs(one - other) / abs(other) if other else (0.0 if one == other else math.inf)


def rows(
    values: Iterable[Published],
    runs: Runs,
    record: Mapping[str, Today],
    intervals: Mapping[str, Interval],
    commit: str = "",
) -> list[Row]:
    """Return all rows, the best first.

    Args:
        values: the published values.
        runs: runs with the present sources; a value that none of them measured comes from the record.
        record: the last measurements by the names of values.
        intervals: intervals by the names of values. An interval counts only beside the value it was computed around.
        commit: hash of the commit of `runs`.
    """
    found = [_row(value, runs, record.get(value.name), intervals.get(value.name), commit) for value in values]
    verdicts = list(Verdict)
    return sorted(found, key=lambda row: (WORTH.index(row.value.kind), verdicts.index(row.verdict), row.error))


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


def of_kind(found: Sequence[Row], kind: Kind) -> list[Row]:
    """The rows of one kind, in their order."""
    return [row for row in found if row.value.kind is kind]


def glance(found: Sequence[Row]) -> list[tuple[str, str]]:
    """The numbers at a glance: what they are, and the number."""
    predicted = [row for row in of_kind(found, Kind.PREDICTED) if row.today is not None]
    counts = [row for row in predicted if row.counted]
    quantities = [row for row in predicted if not row.counted]
    looked = [row for row in quantities if row.value.first_value is not None]
    worth = [row for row in found if row.value.kind in WORTH[:3] and row.today is not None]
    known = [(row.value.value, row.today.interval) for row in worth if row.today and row.today.interval]
    inside = sum(interval.low <= published <= interval.high for published, interval in known)
    good = sum(row.verdict is Verdict.REPRODUCED for row in worth)
    then, today = _median([_first_error(row) for row in looked]), _median([row.error for row in looked])
    kinds = [f"{count} {kind.value}" for kind in WORTH if (count := len(of_kind(found, kind)))]
    return [
        ("values published", str(len(found))),
        ("of them", ", ".join(kinds)),
        ("predicted quantities, as near as asked for", _near(quantities)),
        ("their median error", _median([row.error for row in quantities])),
        (f"median error of the {len(looked)} with a first look: then, today", f"{then}, {today}"),
        ("predicted counts, as asked for", _near(counts)),
        ("with an interval, published value inside", f"{inside} of {len(known)}"),
        ("reproduced", str(good)),
    ]


def _near(found: Sequence[Row]) -> str:
    return f"{sum(row.verdict is not Verdict.OUTSIDE for row in found)} of {len(found)}"


def _first_error(row: Row) -> float:
    return apart(row.value.first_value or 0.0, row.value.value)


def _median(errors: Sequence[float]) -> str:
    return f"{100 * statistics.median(errors):.1f} %" if errors else "-"
