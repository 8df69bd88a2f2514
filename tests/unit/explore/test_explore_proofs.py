"""Table of the results of model checking.

Strategy: a smallest world is searched, once to its end and once not. The table must contain the counts of the search,
and nothing for worlds that were not searched. The tables on the page must have this form, with exactly the existing
worlds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tb.explore import proofs
from tb.explore.run import chosen, layers, main, verdict
from tb.explore.situation import Outcome
from tb.studies.grim.explore.messages import world
from tb.tools.paths import ROOT
from tests.unit.explore.test_explore import searched

PAGE = (ROOT / "tb/explore/README.md").read_text(encoding="utf-8")
SMALLEST: Mapping[str, tuple[str, ...]] = {
    "am": ("fine", "hasty"),
    "am2": ("request", "forgetful"),
    "grim": ("fine", "write", "read", "miss"),
    "hpam": ("lost", "executes"),
    "ssam": ("requests", "careless"),
    "via": ("table",),
}
"""Worlds that are searched once more in every test."""
VERDICTS = "proved", "not exhausted", "found, as it must", "not searched"


@pytest.fixture(name="folder", autouse=True)
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(proofs, "FOLDER", tmp_path)
    return tmp_path


def kept(seconds: float) -> Outcome:
    """Search the smallest world for a time and store its record."""
    outcome, _ = searched(world("append", "", ((0, 1),), {}), seconds)
    proofs.keep("grim", outcome, verdict(outcome))
    return outcome


def cells(line: str) -> list[str]:
    """Return the cells of a table row."""
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_the_table_shows_the_counts_of_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = kept(math.inf)
    assert main(["--table", "--", "grim"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("| `append` |"))
    _, question, *counted = cells(line)
    assert question == chosen("grim", "append")[0].question
    nodes = "+".join(str(count) for count in outcome.nodes)
    numbers = f"{outcome.situations}", f"{outcome.states:,}", nodes, f"{outcome.depth}", f"{outcome.processor_s:.0f}"
    assert counted == ["proved", *numbers]


def test_unexhausted_search_gives_a_lower_bound() -> None:
    outcome = kept(0)
    (line,) = proofs.lines([("append", "")], proofs.kept("grim"))[2:]
    assert cells(line)[2:4] == ["not exhausted", f"over {outcome.situations}"]


def test_unsearched_world_is_reported_as_such() -> None:
    assert cells(proofs.lines([("lost", "a question")], {})[2])[:3] == ["`lost`", "a question", "not searched"]


def rows(layer: str) -> list[list[str]]:
    """Return the table of a layer's worlds on the page."""
    tables = [re.findall(r"^\| `.*", one, re.M) for one in re.split(re.escape(proofs.lines([], {})[0]), PAGE)[1:]]
    first = [f"`{(one := chosen(layer, '')[0]).name}`", one.question]
    (found,) = ([cells(line) for line in table] for table in tables if cells(table[0])[:2] == first)
    return found


@pytest.mark.parametrize("layer", layers())
def test_the_page_has_the_table_of_all_worlds(layer: str) -> None:
    meant = [[f"`{world.name}`", world.question] for world in chosen(layer, "")]
    assert [row[:2] for row in rows(layer)] == meant
    assert {row[2] for row in rows(layer)} <= set(VERDICTS)


@pytest.mark.parametrize(("layer", "name"), [(layer, name) for layer, names in SMALLEST.items() for name in names])
def test_the_page_has_the_results_of_a_search(layer: str, name: str) -> None:
    """Search worlds that take a second; the numbers of states may differ between releases of Python."""
    outcome, _ = searched(chosen(layer, name)[0])
    (row,) = (row for row in rows(layer) if row[0] == f"`{name}`")
    assert [row[2], row[3], row[6]] == [verdict(outcome), f"{outcome.situations:,}", str(outcome.depth)]
