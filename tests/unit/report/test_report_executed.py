"""Clocks of NICs that execute firmware, by function and line, beside the other results of a run.

Strategy: a profile of made-up counts is written to a folder. The page must have every function and line of every NIC,
the terminal the first functions only, and the file the numbers. A run in Python alone leaves none of them.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.lanai.profile import Profile
from pymodels.lanai.program import Function, Inlined, Line, Program
from tb.report.executed import FILE, SHORT, write_executed
from tb.report.page import write_page
from tb.report.terminal import summary
from tests.unit.report.madeup import Question, results

WORDS = SHORT + 2
PROGRAM = Program(
    0, 0, bytes(4 * WORDS), 0, 0x1000, {},
    tuple(Function(f"step{k}", 4 * k, 4) for k in range(WORDS)), (Line(0, "a.c", 3), Line(4, "b<c>.h", 7)),
    (Inlined("look", "a.c", 3, 1, ((0, 4),)),),
)  # fmt: skip
COUNTS = [[100 - k, 1, 2, 3, 4] for k in range(WORDS)]


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """Make a run of two NICs that execute firmware."""
    profile = Profile.counted(PROGRAM, COUNTS)
    write_executed({"paris": profile, "metz": profile}, tmp_path / FILE)
    return tmp_path


def shown(folder: Path) -> str:
    """Return the output on the terminal."""
    console = Console(record=True, width=120, force_terminal=False, file=io.StringIO(), _environ={})
    summary(console, Question(), results(), [], folder / "report.html", folder)
    return console.export_text()


def test_the_page_has_every_function_and_line_of_every_nic(folder: Path) -> None:
    text = write_page(folder, Question(), results(), []).read_text(encoding="utf-8")
    for host in ("paris", "metz"):
        assert f"Clocks of the processor of {host}, by function" in text
        assert f"Clocks of the processor of {host}, by line" in text
    assert ">look</td>" in text and "step0" not in text, "where it was written, not where it stands inline"
    assert f"step{WORDS - 1}" in text and "b&lt;c&gt;.h:7" in text
    assert f'<a href="{FILE}">' in text


def test_the_terminal_has_the_first_functions_of_every_nic(folder: Path) -> None:
    lines = shown(folder).splitlines()
    heads = [k for k, line in enumerate(lines) if "clocks" in line and "load" in line]
    assert [lines[k].split()[0] for k in heads] == ["paris:", "metz:"]
    first = lines[heads[0] + 1].split()
    assert first == ["look", "110", "10.4", "%", "100", "2", "1", "3", "4"]
    assert f"step{SHORT - 1}" in lines[heads[0] + SHORT] and lines[heads[0] + SHORT + 1] == ""


def test_the_file_has_the_numbers(folder: Path) -> None:
    found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    assert found["hosts"]["paris"]["functions"][0] == ["look", 110, 100, 2, 1, 3, 4]


def test_a_run_in_python_has_no_profile(tmp_path: Path) -> None:
    write_executed({}, tmp_path / FILE)
    assert not (tmp_path / FILE).exists()
    assert "clocks" not in shown(tmp_path)
    assert "Clocks of the processor" not in write_page(tmp_path, Question(), results(), []).read_text(encoding="utf-8")
