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
    NONE = "not measured"
    """Quoted, or measured by no run."""


@dataclass(frozen=True)
class Row:
    """A published value and all that is known of it."""

    value: Published
    today: Today | None
    recorded: bool = False
    """What was measured comes from the record, not from a run of this machine."""

    @property
    def error(self) -> float:
        """How far the measured value is from the published one, as a part of it; infinite where nothing is measured."""
        return math.inf if self.today is None else apart(self.today.measured, self.value.value)

    @property
    def verdict(self) -> Verdict:
        """The judgement."""
        if self.today is None or self.value.kind is Kind.QUOTED:
            return Verdict.NONE
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
            "within": value.within,
            "verdict": self.verdict.value,
            "changed": list(value.changed),
            "given": value.given,
            "command": today.command if today else "",
            "recorded": self.recorded,
        }


def apart(one: float, other: float) -> float:
    """How far a value is from another, as a part of the other."""
    return abs(one - other) / abs(other) if other else (0.0 if one == other else math.inf)


def rows(
    values: Iterable[Published], runs: Runs, record: Mapping[str, Today], intervals: Mapping[str, Interval]
) -> list[Row]:
    """All rows, the best first. What no run measured comes from the record; so does an interval that is not given."""
    found = [_row(value, runs, record.get(value.name), intervals.get(value.name)) for value in values]
    verdicts = list(Verdict)
    return sorted(found, key=lambda row: (WORTH.index(row.value.kind), verdicts.index(row.verdict), row.error))


def _row(value: Published, runs: Runs, known: Today | None, interval: Interval | None) -> Row:
    found = measurement(value, runs)
    interval = interval or (known.interval if known else None)
    if found is not None:
        return Row(value, Today(found[1], typed(found[0]), interval))
    if known is None or value.kind is Kind.QUOTED:
        return Row(value, None)
    return Row(value, Today(known.measured, known.command, interval), recorded=True)


def of_kind(found: Sequence[Row], kind: Kind) -> list[Row]:
    """The rows of one kind, in their order."""
    return [row for row in found if row.value.kind is kind]


def glance(found: Sequence[Row]) -> list[tuple[str, str]]:
    """The numbers at a glance: what they are, and the number."""
    predicted = of_kind(found, Kind.PREDICTED)
    measured = [row for row in predicted if row.today is not None]
    first = [apart(row.value.first_value, row.value.value) for row in measured if row.value.first_value is not None]
    within = [row for row in measured if row.verdict is not Verdict.OUTSIDE]
    known = [row for row in measured if row.today and row.today.interval]
    inside = [row for row in known if row.today and row.today.interval and _inside(row.value, row.today.interval)]
    good = [row for row in measured if row.verdict is Verdict.REPRODUCED]
    return [
        ("values published", str(len(found))),
        ("predicted", str(len(predicted))),
        ("median error of predicted", _median([row.error for row in measured])),
        ("the same, first looks", _median(first)),
        ("predicted within what is asked for", f"{len(within)} of {len(measured)}"),
        ("with an interval, published value inside", f"{len(inside)} of {len(known)}"),
        ("reproduced", str(len(good))),
        *((kind.value, str(len(of_kind(found, kind)))) for kind in WORTH[1:]),
    ]


def _inside(value: Published, interval: Interval) -> bool:
    return interval.low <= value.value <= interval.high


def _median(errors: Sequence[float]) -> str:
    return f"{100 * statistics.median(errors):.1f} %" if errors else "-"
