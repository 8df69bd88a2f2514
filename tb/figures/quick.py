"""Record of the last complete `make figures QUICK=1`: its commit and a digest of each run's results.

The record is committed as `quick.json`. A test fails if a source that affects results has changed since. Changes that
may affect a result therefore include a new record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pymodels.results import PER_SIMULATOR, WALL, Results, ResultsError, write_atomically
from tb.tools.sources import changed_since, head

FILE = Path(__file__).with_name("quick.json")
DIGITS = 9
"""Significant digits in a digest; the last digits of float sums may differ between processors."""
REMEDY = "run `make figures QUICK=1` on a committed tree, then `.venv/bin/sanlab figures --quick --record`"


@dataclass(frozen=True)
class Quick:
    """Commit of the runs, and digests of their metrics and series by run name."""

    commit: str
    runs: Mapping[str, str]


def digest(results: Results) -> str:
    """Return 16 hexadecimal digits of metrics and series, without wall times and simulator."""
    plain = {key: value for key, value in results.as_json().items() if key in ("sim_time_ns", "metrics", "series")}
    text = json.dumps(_rounded(plain), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items() if not str(key).startswith((*WALL, *PER_SIMULATOR))}
    if isinstance(value, (list, tuple)):
        return [_rounded(part) for part in value]
    return f"{value:.{DIGITS}g}" if isinstance(value, (int, float)) else value


def load_quick(path: Path = FILE) -> Quick:
    """Read the record. Raises ResultsError if it is missing or unreadable."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return Quick(plain["commit"], dict(plain["runs"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError("invalid record of quick figures", f"{path}: {error}", REMEDY) from None


def differing(measured: Mapping[str, str], record: Quick) -> list[str]:
    """Return the sorted names of runs whose results differ from the record, including new runs."""
    return sorted(name for name, value in measured.items() if record.runs.get(name) != value)


def write_quick(measured: Mapping[str, str], left_out: Iterable[str], path: Path = FILE) -> None:
    """Write the record atomically.

    Args:
        measured: Digests by run name.
        left_out: Runs whose program is not installed; they keep their recorded digest.
        path: File of the record.

    Raises:
        ResultsError: A source differs from the checked-out commit.
        ToolError: The tree is not a git checkout.
    """
    commit = head()
    if changed := changed_since(commit):
        raise ResultsError("record not written", f"{changed[0]} differs from commit {commit[:8]}", "commit first")
    old = load_quick(path).runs if path.exists() else {}
    kept = {name: old[name] for name in left_out if name in old}
    plain = asdict(Quick(commit, {**kept, **measured}))
    write_atomically(path, json.dumps(plain, indent=1, sort_keys=True) + "\n")
