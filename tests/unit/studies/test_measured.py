"""Units and definitions of all metrics and series that studies record, in the report and on a page.

Strategy: the names are taken out of the source of the studies by `ast`, and out of a committed record of a run of each
study. Each must fit a pattern of `tb/studies/measured.toml`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from pymodels.results import Series
from tb.plan import studies
from tb.report import measured
from tb.report.measured import ANY, FILE, Definition, declared, definition, main
from tb.report.page import write_page
from tests.unit.report.madeup import Question, results

ROOT = Path(__file__).parents[3]
RECORD: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("measured_names.json").read_text(encoding="utf-8")
)
"""Names by study and kind, one of those that differ in numbers only."""
CALLS = {"metric": "metrics", "series": "series"}

FILES = sorted((ROOT / "tb/studies").glob("*/*.py"))
SOURCES = [file for file in FILES if file.stem.startswith("_") or file.stem in declared()]
"""Studies with definitions: one that is added needs none to run."""


def handed_in(file: Path) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each name in a source; an expression within a name is `{x}`. Omit computed names."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            for kind, name in named(node):
                if isinstance(name, ast.Constant) and name.value:
                    yield kind, str(name.value)
                elif isinstance(name, ast.JoinedStr):
                    parts = (str(one.value) if isinstance(one, ast.Constant) else "{x}" for one in name.values)
                    yield kind, "".join(parts)


def named(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield the expressions of a call that name metrics or series, with their kinds; in `curve`, `{}` is a point."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in CALLS:
        yield CALLS[call.func.attr], call.args[0]
    elif isinstance(call.func, ast.Name) and call.func.id == "curve":
        yield "series", call.args[1]
        if len(call.args) == 7:
            yield "metrics", call.args[6]


def agree(name: str, pattern: str) -> bool:
    """Return True if a name that contains `{x}` and a pattern can be the same name."""
    name = name.replace("{}", "{x}")
    return Definition(pattern, "", "").fits(name.replace("{x}", "x")) or Definition(name, "", "").fits(
        re.sub(r"\{\w+\}", "x", pattern)
    )


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_every_name_in_the_source_of_a_study_has_a_definition(file: Path) -> None:
    shared = file.stem.startswith("_")
    sections = list(declared()) if shared else [file.stem, ANY]
    for kind, name in handed_in(file):
        known = [one.pattern for section in sections for one in declared().get(section, {}).get(kind, ())]
        assert any(agree(name, pattern) for pattern in known), f"write {kind} {name} into {FILE}"


@pytest.mark.parametrize("study", RECORD)
def test_every_name_in_results_has_a_definition(study: str) -> None:
    for kind, names in RECORD[study].items():
        assert [name for name in names if definition(study, kind, name) is None] == []


def test_every_section_is_a_study() -> None:
    assert declared().keys() - {ANY} <= set(studies.names())
    assert {kind for kinds in declared().values() for kind in kinds} == {"metrics", "series"}


def test_the_page_matches_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_the_most_specific_pattern_defines_a_name() -> None:
    assert definition("tmk_apps", "metrics", "sor_gain") == Definition(
        "{program}_gain", "1", "time over UDP over time over VIA"
    )
    assert definition("nowhere", "metrics", "lost") == definition("echo_pingpong", "metrics", "lost")
    assert definition("nowhere", "metrics", "one_way_us_0B") is None
    assert not Definition("a_{x}", "", "").fits("a_"), "a word in braces stands for something"


def test_a_root_defines_what_its_own_studies_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(
        '[mine.metrics]\n"x_{size}B" = "us; time of x"\n[mine.series]\n"y" = "x over size"\n', encoding="utf-8"
    )
    monkeypatch.setattr(measured, "roots", lambda: (ROOT, tmp_path))
    declared.cache_clear()
    try:
        assert definition("mine", "metrics", "x_8B") == Definition("x_{size}B", "us", "time of x")
        assert definition("mine", "series", "y") == Definition("y", "", "x over size")
        (tmp_path / FILE).write_text('[mine.metrics]\nx = "time of x"\n', encoding="utf-8")
        declared.cache_clear()
        with pytest.raises(ConfigError, match=r"metric 'x' without a unit: 'time of x'; write \"unit; definition\""):
            declared()
    finally:
        declared.cache_clear()


def test_the_report_shows_definitions_beside_values_and_below_curves(tmp_path: Path) -> None:
    found = results({"messages_per_s": 5.0, "unknown": 1.0}, {"rate_by_host": Series((0, 1), (2.0, 3.0), "VNN", "1/s")})
    object.__setattr__(found, "study", "grim_streaming")
    page = write_page(tmp_path, Question(), found, []).read_text(encoding="utf-8")
    assert "messages of all hosts over the time from the first send until the last message is handled, 1/s" in page
    assert "<figcaption>messages of each sending host over the time from the first send until the last of them" in page
