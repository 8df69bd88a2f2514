"""Record of the last measurement of each published value, with commit and interval: `today.json`.

The record is committed, so that the page can be written without a run. No result depends on it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pymodels.profiles import parse_settings
from pymodels.results import ResultsError, write_atomically

FILE = Path(__file__).with_name("today.json")


@dataclass(frozen=True)
class Interval:
    """Median and 90 % interval of a figure over random draws of the assumed and calibrated values in their ranges."""

    low: float
    median: float
    high: float
    measured: float
    """Result of the run around which the values were drawn."""
    draws: int
    failed: int
    """Number of further draws without a result."""
    command: str
    """Command that repeats the computation."""
    date: str
    """Date of the computation."""

    def is_of(self, measured: float, run: str) -> bool:
        """Return True if the interval was computed around this run, and the run still has the same result."""
        return measured == self.measured and _parsed(run) == _parsed(self.command)

    @property
    def made(self) -> str:
        """Inputs of the interval as text."""
        failed = f", {self.failed} more failed" if self.failed else ""
        draws = f"{self.draws} draws{failed}" if self.draws or self.failed else "no profile value affects it"
        return f"{draws}, {self.date}: {self.command}"


@dataclass(frozen=True)
class Today:
    """Last measurement of a published value, with command and commit of its run, and the interval if computed."""

    measured: float
    command: str
    interval: Interval | None = None
    commit: str = ""
    """Full hash of the run's commit; empty for uncommitted sources. Older records have the hash of the
    recording commit.
    """


def _parsed(command: str) -> tuple[str, dict[str, str]]:
    """Return study and settings of a command, without the profile, which the row's name contains."""
    words = dict(word.partition("=")[::2] for word in shlex.split(command))
    return words.get("STUDY", ""), parse_settings(words.get("SET", ""))


def run_settings(command: str) -> dict[str, str]:
    """Return the settings of a recorded command."""
    return _parsed(command)[1]


def load_record(path: Path = FILE) -> dict[str, Today]:
    """Return the record by row name. Raises ResultsError if it is unreadable."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {name: _today(one) for name, one in plain.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "run make figures, then .venv/bin/sanlab fidelity"
        raise ResultsError("invalid record of measured values", f"{path}: {error}", remedy) from None


def _today(one: Mapping[str, Any]) -> Today:
    interval = Interval(**one["interval"]) if one["interval"] else None
    return Today(one["measured"], one["command"], interval, one["commit"])


def write_record(record: Mapping[str, Today], path: Path = FILE) -> None:
    """Write the record atomically."""
    plain = {name: asdict(one) for name, one in record.items()}
    write_atomically(path, json.dumps(plain, indent=1, sort_keys=True) + "\n")
