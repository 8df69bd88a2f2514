"""A hanging tool of the checks is terminated with its children.

Strategy: a tool starts a child that computes for ever, reports its process number, and waits for it. The call must
return with the time limit in its message, and the child must end.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tb.quality import check

ENDLESS = "while True: pass"
TOOL = """
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
pathlib.Path(sys.argv[2]).write_text(str(child.pid))
child.wait()
"""
PATIENCE_S = 120
"""Wall-clock limit for a child that may get little of a busy processor, s."""


def test_a_hanging_tool_is_terminated_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "SPARE", 0)
    left = tmp_path / "pid"
    code, told = check.output([sys.executable, "-c", TOOL, ENDLESS, str(left)], timeout=1)
    assert code == 1 and check.LATE in told[0]
    until = time.monotonic() + PATIENCE_S
    while _runs(int(left.read_text(encoding="utf-8"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _runs(int(left.read_text(encoding="utf-8")))


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_the_output_of_a_finished_tool_is_returned() -> None:
    said = check.output([sys.executable, "-c", "print('one'); print('two'); raise SystemExit(3)"])
    assert said == (3, ["one", "two"])
