"""`make studies`: a line for each study.

Strategy: study files of every kind are written to a folder and read; none of them is ever imported, so one that would
fail on import, does not parse, or has no docstring must still have its line. Then the real list must name the real
studies.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from firmware import layers
from tb.plan import studies
from tb.run import studies_list


def test_every_study_has_one_line_with_its_question(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""How far?\n\nMore."""\nraise SystemExit\n')
    (tmp_path / "long_name.py").write_text('"""How fast?"""\n')
    (tmp_path / "mute.py").write_text("x = 1\n")
    (tmp_path / "torn.py").write_text("def run(:\n")
    lines = list(studies_list.lines({path.stem: path for path in sorted(tmp_path.glob("*.py"))}))
    assert lines[0] == "a          How far?"
    assert lines[1] == "long_name  How fast?"
    assert "docstring is missing" in lines[2]
    assert "does not parse" in lines[3]


def starts_a_layer(part: Any, seen: set[Any]) -> bool:
    """Whether a function or class of the studies, or one that it uses, starts a layer."""
    if not getattr(part, "__module__", "").startswith("tb.studies.") or part in seen:
        return False
    seen.add(part)
    if inspect.isclass(part):
        return any(starts_a_layer(member, seen) for member in vars(part).values() if callable(member) or member)
    function = getattr(part, "__func__", part)
    if not inspect.isfunction(function):
        return False
    used = [function.__globals__.get(name) for name in function.__code__.co_names]
    return "start_layer" in function.__code__.co_names or any(starts_a_layer(one, seen) for one in used)


@pytest.mark.parametrize("name", studies.names())
def test_a_study_that_starts_a_layer_says_which(name: str) -> None:
    module = studies.load(name).module
    layer = getattr(module, "LAYER", None)
    assert layer in layers.names() if starts_a_layer(module.run, set()) else layer is None


def test_no_studies_are_no_lines() -> None:
    assert list(studies_list.lines({})) == []


def test_the_command_lists_the_studies_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert studies_list.main() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == studies.names()
