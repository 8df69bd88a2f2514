"""The bar of a long run: how far, how fast, how long still; nothing for a short run, and nothing without a terminal.

Strategy: reports are written to a real pipe, as the simulator process writes them, also in pieces; what a made-up
terminal shows is searched for the words. Rate and time left are compared with numbers worked out by hand.
"""

from __future__ import annotations

import io
import json
import os
import threading

import pytest
from rich.console import Console

from tb.run import progress
from tb.run.progress import clock, fields, show_progress
from tests.patience import PATIENCE_S, wait_for

STATE = {"done": 250, "total": 1000, "what": "messages", "messages": 260, "sim_us": 2500.0}


def shown(*parts: bytes, terminal: bool = True, until: str = "") -> str:
    read, write = os.pipe()
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=160, legacy_windows=False)
    watcher = threading.Thread(target=show_progress, args=(read, console))
    watcher.start()
    for part in parts:
        os.write(write, part)
    if until:
        wait_for(lambda: until in file.getvalue(), f"{until!r} on the terminal")
    os.close(write)
    watcher.join(PATIENCE_S)
    assert not watcher.is_alive()
    return file.getvalue()


@pytest.fixture(name="at_once")
def fixture_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show the bar for every run, however short."""
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    monkeypatch.setattr(progress, "LOOK_S", 0.01)


@pytest.mark.usefixtures("at_once")
def test_a_long_run_has_a_bar() -> None:
    line = json.dumps(STATE).encode() + b"\n"
    text = shown(line[:20], line[20:])
    for words in ("simulating", "250/1,000 messages", "2.50 ms simulated"):
        assert words in text


def test_a_short_run_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_S", PATIENCE_S)
    assert "simulating" not in shown(json.dumps(STATE).encode() + b"\n")


@pytest.mark.usefixtures("at_once")
def test_without_a_terminal_nothing_is_written() -> None:
    assert shown(json.dumps(STATE).encode() + b"\n", terminal=False) == ""


@pytest.mark.usefixtures("at_once")
def test_a_run_without_reports_still_updates_its_bar() -> None:
    assert "0 messages" in shown(until="0 messages")


def test_the_bar_shows_rate_and_time_left() -> None:
    assert fields(STATE, 5.0, 200) == {
        "counted": "250/1,000 messages",
        "simulated": "2.50 ms simulated",
        "rate": "40 messages/s",
        "left": "0:15 left",
    }


def test_a_study_without_a_total_has_no_time_left() -> None:
    told = fields({"messages": 1234, "sim_us": 0.0}, 2.0, 1000)
    assert told == {"counted": "1,234 messages", "simulated": "0.00 ms simulated", "rate": "500 messages/s", "left": ""}


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (61, "1:01"), (3723, "1:02:03")])
def test_durations_are_shown_as_minutes_or_hours(seconds: float, text: str) -> None:
    assert clock(seconds) == text
