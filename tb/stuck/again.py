"""Second run after a hang, with waves only of the time around it.

The same seed gives the same run to the picosecond, so the second run hangs at the same time for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pymodels.errors import SanlabError
from tb.plan.request import Request
from tb.stuck.report import WINDOW

FOLDER = "stuck"
"""Subfolder of the run for the second run."""
WAVES = "waves.fst"
NEAR = ("from_us", "to_us")
Execute = Callable[[Request], object]
"""Function that builds and runs a request."""


def waves_around(request: Request, execute: Execute, say: Callable[[str], None]) -> Path | None:
    """Repeat a run that hung, with waves of the time around the hang; return the wave file or None.

    A run with waves, or without the report of a hang, is not repeated.

    Args:
        request: Request of the first run.
        execute: Function that builds and runs a request.
        say: Function that receives messages for the user.
    """
    folder = Path(request.folder)
    first = _window(folder)
    if request.waves or first is None:
        return None
    begin, end = (first[name] for name in NEAR)
    say(f"running again for waves from {begin:.3f} to {end:.3f} us")
    window = round(begin * 1e6), round(end * 1e6)
    try:
        execute(replace(request, waves=True, window_ps=window, folder=str(folder / FOLDER)))
    except SanlabError as error:
        say(f"no waves: {error}")
        return None
    found = folder / FOLDER / WAVES
    if _window(folder / FOLDER) != first:
        say("the second run did not hang like the first; report this with the seed")
    if not found.is_file():
        say("no waves: the second run left none")
        return None
    return found


def _window(folder: Path) -> dict[str, float] | None:
    """Return the time window around a hang from its report, or None without a report."""
    try:
        window: dict[str, float] = json.loads((folder / WINDOW).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return window if all(name in window for name in NEAR) else None
