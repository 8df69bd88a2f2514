"""Record of the last measurement of every published value, with its commit and its interval: `today.json`.

The record is committed, so the page can be written without a run. No result follows from it.
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
    """What values give that are assumed or calibrated, drawn within their ranges: the middle, and 90 % of the draws."""

    low: float
    median: float
    high: float
    measured: float
    """What the run gave around which they were drawn."""
    draws: int
    failed: int
    """Draws beside these that measured nothing."""
    command: str
    """What a user types to have it again."""
    date: str
    """When it was computed."""

    def is_of(self, measured: float, run: str) -> bool:
        """Whether it was computed around the run of this command, and that run still gives what it gave then."""
        return measured == self.measured and _asked(run) == _asked(self.command)

    @property
    def made(self) -> str:
        """What it was made from."""
        failed = f", {self.failed} more failed" if self.failed else ""
        draws = f"{self.draws} draws{failed}" if self.draws or self.failed else "no value of the profile moves it"
        return f"{draws}, {self.date}: {self.command}"


@dataclass(frozen=True)
class Today:
    """Last measurement of a published value, the command and the commit of the run, and the interval if computed."""

    measured: float
    command: str
    interval: Interval | None = None
    commit: str = ""
    """Full hash of the commit of the run; of the commit that recorded it, for values older than this field; empty for
    a run of uncommitted sources."""


def _asked(command: str) -> tuple[str, dict[str, str]]:
    """Study and settings of a command; a row's profile is told by its name."""
    words = dict(word.partition("=")[::2] for word in shlex.split(command))
    return words.get("STUDY", ""), parse_settings(words.get("SET", ""))


def load_record(path: Path = FILE) -> dict[str, Today]:
    """The record by the names of rows. ResultsError when it cannot be read."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {name: _today(one) for name, one in plain.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "run make figures, then .venv/bin/sanlab fidelity"
        raise ResultsError("no record of what was measured", f"{path}: {error}", remedy) from None


def _today(one: Mapping[str, Any]) -> Today:
    interval = Interval(**one["interval"]) if one["interval"] else None
    return Today(one["measured"], one["command"], interval, one["commit"])


def write_record(record: Mapping[str, Today], path: Path = FILE) -> None:
    """Write it, at once or not at all."""
    plain = {name: asdict(one) for name, one in record.items()}
    write_atomically(path, json.dumps(plain, indent=1, sort_keys=True) + "\n")
