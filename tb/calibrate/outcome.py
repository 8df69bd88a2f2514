"""Outcome of a calibration: tables for the terminal and the page, JSON, and the table of all runs."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from pymodels.published_scores import unit
from pymodels.results import write_atomically
from tb.calibrate.family import Family
from tb.calibrate.holdout import Prediction, coverage
from tb.calibrate.match import LIMIT
from tb.calibrate.rank import Rank
from tb.calibrate.space import Array
from tb.calibrate.waves import Matched
from tb.plan.provenance import commit
from tb.report.markup import html_table, section
from tb.report.page import document
from tb.report.tables import Table, number, percent
from tb.tools.paths import ROOT

SCHEMA = 1


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
        command: Command that repeats the calibration.
    """

    family: Family
    matched: Matched
    predictions: Sequence[Prediction]
    posterior: Array
    unmet: Sequence[str]
    ranks: dict[str, list[Rank]]
    command: str

    def summary(self) -> Table:
        """Return the summary as pairs of label and text."""
        share = self.matched.waves[-1].share
        errors = [one.error for one in self.predictions if np.isfinite(one.error)]
        met = int((self.matched.met(self.family.observed) <= LIMIT).sum())
        failed = sum(map(bool, self.matched.reasons))
        rows = (
            ("uncertain values", str(len(self.family.space))),
            ("points run, of them failed", f"{len(self.matched.reasons)}, {failed}"),
            ("points that meet all conditioning rows", str(met)),
            ("share of the space that is left", f"{100 * share:.2f} %"),
            ("held-out rows, published value inside 90 %", _share(coverage(self.predictions), len(self.predictions))),
            ("median error of the held-out best estimate", percent(median(errors)) if errors else "-"),
            ("rows that no point meets", "; ".join(self.unmet) or "none"),
        )
        return Table(("", ""), rows, words=2)

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
        for at, one in enumerate(self.family.space):
            low, middle, high = (one.first.at(float(q)) for q in np.quantile(self.posterior[:, at], [0.05, 0.5, 0.95]))
            span = one.first
            prior = f"{number(float(span.low))} - {number(float(span.high))}"
            after = f"{number(float(low))} - {number(float(high))}"
            lines.append((one.name, prior, number(float(span.value)), number(float(middle)), after, one.why))
        return Table(("value", "range", "profile", "median after", "90 % after", "reason"), tuple(lines))

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        worst = self.matched.met(self.family.observed)
        best = int(np.argmin(worst))
        return {
            "schema": SCHEMA,
            "family": self.family.name,
            "command": self.command,
            "commit": commit(ROOT),
            "runs": [run.name for run in self.family.runs],
            "waves": [vars(wave) for wave in self.matched.waves],
            "unmet": list(self.unmet),
            "skipped": self.matched.skipped,
            "coverage": coverage(self.predictions) if self.predictions else None,
            "best": {
                "implausibility": float(worst[best]) if np.isfinite(worst[best]) else None,
                "settings": {
                    one.name: one.first.at(float(s))
                    for one, s in zip(self.family.space, self.matched.shares[best], strict=True)
                },
            },
            "values": {
                one.name: [one.first.at(float(q)) for q in np.quantile(self.posterior[:, at], [0.05, 0.5, 0.95])]
                for at, one in enumerate(self.family.space)
            },
            "rows": [
                {
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
                for one in self.predictions
            ],
        }

    def leave(self, folder: Path) -> Path:
        """Write `calibrate.json`, `points.parquet` and `index.html`, and return the path of the page."""
        text = json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n"
        write_atomically(folder / "calibrate.json", text)
        write_atomically(folder / "points.parquet", [self._parquet()])
        write_atomically(folder / "index.html", document(f"Calibration of {self.family.name}", self._body()))
        return folder / "index.html"

    def _body(self) -> Iterator[str]:
        yield f"<header><h1>Calibration of {escape(self.family.name)}</h1>"
        yield f'<p class="soft">{escape(self.command)}</p></header>'
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
        skipped = tuple(self.matched.skipped.items())
        yield from section("Rows without an emulator", Table(("row", "reason"), skipped, words=2))

    def _parquet(self) -> bytes:
        """Return the table of all points: wave, values on the first profile, scores and reasons of failures."""
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        columns: dict[str, list[Any]] = {"wave": list(self.matched.of_wave)}
        for at, one in enumerate(self.family.space):
            columns[f"value.{one.name}"] = [one.first.at(float(share)) for share in self.matched.shares[:, at]]
        for name, scores in self.matched.scores.items():
            columns[f"score.{name}"] = [_finite(score) for score in scores]
        columns["failure"] = [reason or None for reason in self.matched.reasons]
        file = io.BytesIO()
        parquet.write_table(arrow.table(columns), file)
        return file.getvalue()


def _share(share: float, count: int) -> str:
    return f"{round(share * count)} of {count}" if count else "-"


def _finite(score: float) -> float | None:
    return float(score) if np.isfinite(score) else None
