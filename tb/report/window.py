"""FROM and TO: a window of simulated time in microseconds."""

from __future__ import annotations

import argparse

from pymodels.errors import ConfigError
from pymodels.numerals import real

PS_PER_US = 1_000_000


def add_window(parser: argparse.ArgumentParser) -> None:
    """Add the options `--from` and `--to` to a command."""
    parser.add_argument("--from", default="", dest="begin", metavar="US", help="simulated time to begin at, in us")
    parser.add_argument("--to", default="", dest="end", metavar="US", help="simulated time to end at, in us")


def window_ps(begin: str, end: str) -> tuple[int, int | None]:
    """Return a window in ps; None: to the end. Raises ConfigError for an invalid time or an empty window."""
    first, last = _time("FROM", begin), _time("TO", end)
    if last is not None and last <= (first or 0):
        raise ConfigError("TO", 0, "empty window", f"TO is {end} us, FROM is {begin or 0} us", "give a TO after FROM")
    return first or 0, last


def _time(name: str, text: str) -> int | None:
    if not text:
        return None
    try:
        time = real(text)
    except ValueError:
        time = -1.0
    if not 0 <= time < 1e12:
        raise ConfigError(name, 0, "invalid time", f"{name} is {text!r}", "give microseconds, such as 40 or 41.5")
    return round(time * PS_PER_US)
