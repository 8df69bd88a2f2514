"""`make studies`: a line for each study.

Strategy: study files of every kind are written to a folder and read. No file is imported. So a study that would fail on
import, is not valid Python, or has no docstring must still have its line. Then the real list must name the real
studies. A study that is said to run with firmware in C must start its layer with options that this has: it begins in a
lab that only takes the options down.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from firmware import layers
from firmware.grim.nic.boot import UNSUPPORTED
from tb.plan import studies
from tb.plan.request import Plan, plan, resolve
from tb.run import studies_list


def test_every_study_has_one_line_with_its_question(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""How far?\n\nMore."""\nraise SystemExit\n', encoding="utf-8")
    (tmp_path / "long_name.py").write_text('"""How fast?"""\n', encoding="utf-8")
    (tmp_path / "mute.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "torn.py").write_text("def run(:\n", encoding="utf-8")
    lines = list(studies_list.lines({path.stem: path for path in sorted(tmp_path.glob("*.py"))}))
    assert lines[0] == "a          How far?"
    assert lines[1] == "long_name  How fast?"
    assert "docstring is missing" in lines[2]
    assert "invalid Python: invalid syntax" in lines[3]


def starts_a_layer(part: Any, seen: set[Any]) -> bool:
    """Return whether a function or class of the studies, or one that it uses, starts a layer."""
    if not getattr(part, "__module__", "").startswith("tb.studies.") or part in seen:
        return False
    seen.add(part)
    if inspect.isclass(part):
        members = (*vars(part).values(), *part.__bases__)
        return any(starts_a_layer(member, seen) for member in members if callable(member) or member)
    function = getattr(part, "__func__", part)
    if not inspect.isfunction(function):
        return False
    named = set(names_in(function.__code__))
    return "start_layer" in named or any(starts_a_layer(function.__globals__.get(one), seen) for one in named)


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names used in a function, including its comprehensions and inner functions."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


@pytest.mark.parametrize("name", studies.names())
def test_a_study_that_starts_a_layer_declares_it(name: str) -> None:
    module = studies.load(name).module
    said = getattr(module, "LAYERS", None) or [getattr(module, "LAYER", None)]
    assert set(said) <= {*layers.names()} if starts_a_layer(module.run, set()) else said == [None]


def test_an_empty_list_of_studies_has_no_lines() -> None:
    assert list(studies_list.lines({})) == []


def test_the_command_lists_all_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert studies_list.main() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == studies.names()


class StartedError(Exception):
    """A study has started its layer."""


class Desk:
    """A lab of the plan alone: it takes down the options with which a layer starts."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.asked: list[dict[str, Any]] = []

    def option(self, name: str) -> Any:
        """Return an option of the study."""
        return self.plan.options[name]

    text = option

    def start_layer(self, layer: str, options: Any = None, of_host: Any = None) -> None:
        """Take them down, those of each host that has its own."""
        own = list((of_host or {}).values()) or [{}]
        self.asked += [{**(options or {}), **one} for one in own]
        raise StartedError


IN_C = [name for name in studies_list.files_in_c() if studies.load(name).layers == ("grim",)]


@pytest.mark.parametrize("name", IN_C)
def test_a_study_with_c_firmware_uses_options_that_the_firmware_supports(name: str) -> None:
    info = studies.load(name)
    desk = Desk(plan(resolve(name, "verilator", "1", False, "", "", "nic.firmware=c", ("verilator",)), info))
    with pytest.raises(StartedError):
        asyncio.run(info.run(desk))
    assert desk.asked
    for options in desk.asked:
        layers.check_boot("grim", options, getattr(info.module, "NEEDS", ()))


def test_needs_of_a_study_are_declared_by_its_layer() -> None:
    needs = {need for name in studies.names() for need in getattr(studies.load(name).module, "NEEDS", ())}
    assert needs == set(UNSUPPORTED)


def test_the_studies_that_run_in_c_are_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert studies_list.main(["--in-c"]) == 0
    found = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert "grim_pingpong" in found and "echo_pingpong" in found
    assert not {"grim_multicast", "grim_reliability", "grim_queues", "card_message"} & set(found)
