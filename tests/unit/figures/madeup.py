"""Made-up rows and calibrations for tests of the page of fidelity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymodels.published import Published
from pymodels.results import Kind
from tb.figures.held_out import SCHEMA, Calibration, known_calibrations
from tb.figures.record import Today
from tb.figures.rows import Row

VALUE = Published(
    "A on LANai 9",
    "paper 9, Table 1",
    2.0,
    "us",
    Kind.PREDICTED,
    "study",
    "time_lanai9",
    "lanai9+p3-450",
    within=0.1,
    first=2.5,
    family="firmvia",
    table="Table 1",
)


def row(measured: float = 2.0, **changed: Any) -> Row:
    """Make a row with one measured value."""
    return Row(replace(VALUE, **changed), Today(measured, "make run", None, "c" * 40))


def calibration(
    family: str = "firmvia",
    name: str = VALUE.name,
    published: float = 2.0,
    best: float = 2.2,
    high: float = 2.3,
    ratios: Mapping[str, float] = {"key0": 0.25, "key1": 0.95},
) -> dict[str, Any]:
    """Make a file of `make calibrate` with one held-out row.

    Args:
        family: Name of the family.
        name: Name of the held-out row.
        published: Published score of the row.
        best: Median of its prediction.
        high: Upper end of its interval, which begins at 1.5.
        ratios: Uncertain values with the ratio of widths of each.
    """
    ranks = [{"name": f"key{at}", "total": 0.5 - at / 10, "effect": 1.0} for at in range(4)]
    return {
        "schema": SCHEMA,
        "family": family,
        "command": f"make calibrate FAMILY={family}",
        "commit": "0123456789abcdef",
        "points": 41,
        "failed": 3,
        "met": 7,
        "waves": [{"points": 20, "failed": 3, "share": 0.5}, {"points": 20, "failed": 0, "share": 0.0123}],
        "conditioning": ["one", "two"],
        "unmet": [],
        "skipped": {},
        "default": {"implausibility": 12.345},
        "best": {"implausibility": 1.5, "settings": {}},
        "values": {key: uncertain(ratio) for key, ratio in ratios.items()},
        "rows": [
            {"name": name, "published": published, "best": best, "low": 1.5, "high": high, "ranks": ranks},
        ],
    }


def uncertain(ratio: float, **changed: Any) -> dict[str, Any]:
    """Make an uncertain value of a file of `make calibrate`."""
    told = {"unit": "ns", "low": 0, "high": 2500, "choices": [], "profile": 800, "posterior": [500, 700, 900]}
    return {**told, "ratio": ratio, "why": "no paper gives it", **changed}


def read(tmp_path: Path, *files: dict[str, Any]) -> dict[str, Calibration]:
    """Write files as calibrations of this machine, and read them."""
    for plain in files:
        folder = tmp_path / plain["family"]
        folder.mkdir(parents=True)
        (folder / "calibrate.json").write_text(json.dumps(plain), encoding="utf-8")
    return known_calibrations(tmp_path, tmp_path / "none")
