"""Outcome of a calibration: tables for the terminal and the page, JSON, and the table of all runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from pymodels.hardware.schema import Scalar
from pymodels.published_scores import unit
from pymodels.results import write_atomically
from tb.calibrate.family import Family
from tb.calibrate.holdout import INSIDE, Prediction, coverage
from tb.calibrate.match import LIMIT
from tb.calibrate.rank import Rank
from tb.calibrate.space import Array, Dimension
from tb.calibrate.table import Origin, as_parquet
from tb.calibrate.waves import Matched
from tb.figures.held_out import SCHEMA
from tb.report.markup import html_table, section
from tb.report.page import document
from tb.report.tables import Table, number, percent

ENDS = ((1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2)
"""Quantiles of a conditioned value: lower end of the interval of 90 %, median, upper end."""


@dataclass(frozen=True)
class Outcome:
    """Result of a calibration.

    Attributes:
        family: Family.
        matched: Runs and emulators.
        predictions: Held-out predictions.
        posterior: Points conditioned on all training rows, one a row.
        unmet: Names of the rows that no point meets.
        ranks: Strongest values by row.
        origin: Command that repeats the runs, and their commit.
    """

    family: Family
    matched: Matched
    predictions: Sequence[Prediction]
    posterior: Array
    unmet: Sequence[str]
    ranks: dict[str, list[Rank]]
    origin: Origin

    def summary(self) -> Table:
        """Return the summary as pairs of label and text."""
        errors = [one.error for one in self.predictions if np.isfinite(one.error)]
        widths = [(one.high - one.low) / abs(one.row.published) for one in self.predictions if one.row.published]
        worst = self._worst()
        rows = (
            ("uncertain values", str(len(self.family.space))),
            ("conditioning rows", str(len(self._conditioning()))),
            ("points run, of them failed", f"{len(self.matched.reasons)}, {self._failed()}"),
            ("points that meet all conditioning rows", str(int((worst <= LIMIT).sum()))),
            ("implausibility of the profiles' values, of the best point", f"{worst[0]:.2f}, {worst.min():.2f}"),
            ("share of the space that is left", f"{100 * self.matched.waves[-1].share:.2f} %"),
            ("held-out rows, published value inside 90 %", _share(coverage(self.predictions), len(self.predictions))),
            ("median error of the held-out best estimate", percent(median(errors)) if errors else "-"),
            ("median relative width of the intervals of 90 %", percent(median(widths)) if widths else "-"),
            ("rows that no point meets", "; ".join(self.unmet) or "none"),
        )
        return Table(("", ""), rows, words=2)

    def _worst(self) -> Array:
        """Return the greatest implausibility of each run, the profiles' values first; infinite for a failed run."""
        return self.matched.met(self.family.observed)

    def _conditioning(self) -> list[str]:
        """Return the names of the rows that condition values."""
        return [row.name for row in self.matched.match(self.family.observed).rows]

    def _failed(self) -> int:
        """Return the number of points at which a run failed."""
        return sum(map(bool, self.matched.reasons))

    def _quantiles(self) -> Iterator[tuple[Dimension, Array]]:
        """Yield each uncertain value with the quantiles `ENDS` of its conditioned position, 0 to 1."""
        for at, one in enumerate(self.family.space):
            yield one, np.quantile(self.posterior[:, at], ENDS)

    def rows(self) -> Table:
        """Return the table of held-out rows."""
        values = self.family.rows
        lines = (
            (
                one.row.name,
                one.row.table,
                "train" if one.row.train else "test",
                f"{number(one.row.published)} {unit(values[one.row.name])}",
                number(float(self.matched.scores[one.row.name][0])),
                number(one.best),
                f"{number(one.low)} - {number(one.high)}",
                "inside" if one.inside else "outside",
                f"{one.q2:.3f}",
                ", ".join(f"{rank.name} {rank.total:.2f}" for rank in self.ranks.get(one.row.name, [])),
            )
            for one in self.predictions
        )
        heads = ("row", "table", "role", "published", "default", "held out", "90 %", "published is", "Q2", "ranks")
        return Table(heads, tuple(lines), words=3)

    def values(self) -> Table:
        """Return the table of uncertain values before and after the runs."""
        lines = []
        for one, quantiles in self._quantiles():
            low, middle, high = _values(one, quantiles)
            span = one.first
            prior = f"{number(float(span.low))} - {number(float(span.high))}"
            after = f"{number(float(low))} - {number(float(high))}"
            lines.append((one.name, prior, number(float(span.value)), number(float(middle)), after, one.why))
        return Table(("value", "range", "profile", "median after", "90 % after", "reason"), tuple(lines))

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        worst = self._worst()
        return {
            "schema": SCHEMA,
            "family": self.family.name,
            "command": self.origin.command,
            "commit": self.origin.commit,
            "runs": [run.name for run in self.family.runs],
            "points": len(self.matched.reasons),
            "failed": self._failed(),
            "met": int((worst <= LIMIT).sum()),
            "waves": [vars(wave) for wave in self.matched.waves],
            "conditioning": self._conditioning(),
            "unmet": list(self.unmet),
            "skipped": {**self.family.without, **self.matched.skipped},
            "coverage": coverage(self.predictions) if self.predictions else None,
            "default": {"implausibility": _finite(worst[0])},
            "best": self._best(worst),
            "values": {one.name: _conditioned(one, quantiles) for one, quantiles in self._quantiles()},
            "rows": [self._row(one) for one in self.predictions],
        }

    def _best(self, worst: Array) -> dict[str, Any]:
        """Return the run with the least implausibility as plain values."""
        best = int(np.argmin(worst))
        positions = zip(self.family.space, self.matched.shares[best], strict=True)
        settings = {one.name: one.first.at(float(share)) for one, share in positions}
        return {"implausibility": _finite(worst[best]), "settings": settings}

    def _row(self, one: Prediction) -> dict[str, Any]:
        """Return a held-out row as plain values."""
        return {
            "name": one.row.name,
            "table": one.row.table,
            "train": one.row.train,
            "published": one.row.published,
            "default": _finite(self.matched.scores[one.row.name][0]),
            "best": one.best,
            "low": one.low,
            "high": one.high,
            "inside": one.inside,
            "q2": one.q2,
            "ranks": [vars(rank) for rank in self.ranks.get(one.row.name, [])],
        }

    def leave(self, folder: Path) -> Path:
        """Write `calibrate.json`, `points.parquet` and `index.html`, and return the path of the page."""
        text = json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n"
        write_atomically(folder / "calibrate.json", text)
        write_atomically(folder / "points.parquet", [as_parquet(self.family, self.matched, self.origin)])
        write_atomically(folder / "index.html", document(f"Calibration of {self.family.name}", self._body()))
        return folder / "index.html"

    def _body(self) -> Iterator[str]:
        yield f"<header><h1>Calibration of {escape(self.family.name)}</h1>"
        yield f'<p class="soft">{escape(self.origin.command)}</p></header>'
        yield from html_table(self.summary(), headed=False)
        yield from section("Held-out rows", self.rows())
        yield from section("Uncertain values", self.values())
        waves = (
            (str(at), str(w.points), str(w.failed), f"{100 * w.share:.2f} %")
            for at, w in enumerate(self.matched.waves, 1)
        )
        yield from section("Waves", Table(("wave", "points", "failed", "space left"), tuple(waves)))
        failed = sorted({reason for reason in self.matched.reasons if reason})
        yield from section("Failed points", Table(("reason",), tuple((reason,) for reason in failed)))
        skipped = tuple({**self.family.without, **self.matched.skipped}.items())
        yield from section("Rows without a prediction", Table(("row", "reason"), skipped, words=2))


def _values(one: Dimension, positions: Array) -> list[Scalar]:
    return [one.first.at(float(position)) for position in positions]


def _conditioned(one: Dimension, quantiles: Array) -> dict[str, Any]:
    """Return an uncertain value as plain values: range, value of the first profile, and conditioned distribution.

    `ratio` is the width of the conditioned interval of 90 % relative to that of the range, both as positions.
    """
    span = one.first
    return {
        "unit": span.key.unit,
        "low": span.low,
        "high": span.high,
        "choices": list(span.choices),
        "profile": span.value,
        "posterior": _values(one, quantiles),
        "ratio": float(quantiles[-1] - quantiles[0]) / INSIDE,
        "why": one.why,
    }


def _share(share: float, count: int) -> str:
    return f"{round(share * count)} of {count}" if count else "-"


def _finite(score: float) -> float | None:
    return float(score) if np.isfinite(score) else None
