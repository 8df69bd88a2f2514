"""`make studies`: a line for each study.

Strategy: study files of every kind are written to a folder and read; none of them is ever imported, so one that would
fail on import, does not parse, or has no docstring must still have its line. Then the real list must name the real
studies.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from firmware import layers
from tb import studies, studies_list


def test_every_study_has_one_line_with_its_question(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""How far?\n\nMore."""\nraise SystemExit\n')
    (tmp_path / "long_name.py").write_text('"""How fast?"""\n')
    (tmp_path / "mute.py").write_text("x = 1\n")
    (tmp_path / "torn.py").write_text("def run(:\n")
    lines = list(studies_list.lines(tmp_path, ["a", "long_name", "mute", "torn"]))
    assert lines[0] == "a          How far?"
    assert lines[1] == "long_name  How fast?"
    assert "docstring is missing" in lines[2]
    assert "does not parse" in lines[3]


@pytest.mark.parametrize("name", studies.names())
def test_a_study_that_starts_a_layer_says_which(name: str) -> None:
    module = studies.load(name).module
    helpers = [part for part in vars(module).values() if getattr(part, "__module__", "").startswith("tb.studies._")]
    starts = any(
        "start_layer(" in inspect.getsource(part) for part in [module, *map(inspect.getmodule, helpers)] if part
    )
    assert getattr(module, "LAYER", None) in layers.names() if starts else not hasattr(module, "LAYER")


def test_no_studies_are_no_lines(tmp_path: Path) -> None:
    assert list(studies_list.lines(tmp_path, [])) == []


def test_the_command_lists_the_studies_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert studies_list.main() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == studies.names()
