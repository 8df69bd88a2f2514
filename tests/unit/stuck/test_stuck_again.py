"""After a deadlock the run is repeated once, with waves of the time around it, and only then.

Strategy: a made-up run leaves a window as the real one does; the second run is a function that notes its request. Runs
without a deadlock, runs that had waves, builds that fail and second runs that differ are tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pymodels.errors import SanlabError
from tb.plan.request import Request
from tb.stuck.again import waves_around

STANDSTILL: dict[str, object] = {"cause": "nothing moves", "from_us": 80.0, "to_us": 105.5}


def ran(tmp_path: Path, waves: bool = False, window: dict[str, object] | None = STANDSTILL) -> Request:
    """Make a run that has ended."""
    if window is not None:
        (tmp_path / "stuck.json").write_text(json.dumps(window), encoding="utf-8")
    return Request("hang", "icarus", 3, waves, "cluster", "", folder=str(tmp_path))


def second(asked: list[Request], window: dict[str, object], leaves: bool = True) -> Callable[[Request], None]:
    """Make a second run that deadlocks at `window`."""

    def execute(request: Request) -> None:
        asked.append(request)
        folder = Path(request.folder)
        folder.mkdir()
        (folder / "stuck.json").write_text(json.dumps(window), encoding="utf-8")
        if leaves:
            (folder / "waves.fst").touch()

    return execute


def test_the_run_is_repeated_with_waves_of_the_window(tmp_path: Path) -> None:
    asked: list[Request] = []
    said: list[str] = []
    found = waves_around(ran(tmp_path), second(asked, dict(STANDSTILL)), said.append)
    assert found == tmp_path / "stuck" / "waves.fst"
    (request,) = asked
    assert (request.study, request.seed, request.waves) == ("hang", 3, True)
    assert request.window_ps == (80_000_000, 105_500_000)
    assert said == ["running again for waves from 80.000 to 105.500 us"]


def test_a_run_without_a_hang_or_with_waves_is_not_repeated(tmp_path: Path) -> None:
    asked: list[Request] = []
    execute = second(asked, dict(STANDSTILL))
    assert waves_around(ran(tmp_path, window=None), execute, print) is None
    assert waves_around(ran(tmp_path, waves=True), execute, print) is None
    (tmp_path / "stuck.json").write_text("{", encoding="utf-8")
    assert waves_around(ran(tmp_path, window=None), execute, print) is None
    assert asked == []


def test_a_differing_second_run_is_reported(tmp_path: Path) -> None:
    said: list[str] = []
    assert waves_around(ran(tmp_path), second([], {**STANDSTILL, "to_us": 1.0}), said.append)
    assert said[1:] == ["the second run did not hang like the first; report this with the seed"]


def test_errors_of_the_second_run_are_reported(tmp_path: Path) -> None:
    said: list[str] = []

    def refuse(request: Request) -> None:
        raise SanlabError("no compiler", "g++ is missing", "install it")

    assert waves_around(ran(tmp_path), refuse, said.append) is None
    assert said[1:] == ["no waves: no compiler: g++ is missing; install it"]
    assert waves_around(ran(tmp_path), second([], dict(STANDSTILL), leaves=False), said.append) is None
    assert said[-1] == "no waves: the second run left none"
