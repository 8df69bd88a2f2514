"""The index of many runs: every published value, every curve, every failure, and links that lead somewhere.

Strategy: made-up results, one of them missing and one failed, become a page that is taken apart by the reader of
tests/unit/report/test_report_page.py: closed elements, unique ids, nothing fetched. What is shown is compared with
what was put in.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.results import ResultsError, Series, write_results
from tb.report.contents import write_contents
from tb.report.index import Entry, write_index
from tests.unit.report.madeup import PUBLISHED, SIZED, results
from tests.unit.report.test_report_page import Page

CURVE = {"one_way": Series((0, 16), (1.0, 2.0), "B", "us"), "nothing": Series((), (), "B", "us")}
ENTRIES = (
    Entry("first", "Is 1 < 2?", results(SIZED, CURVE, PUBLISHED), (), "first/report.html"),
    Entry("second", "Does it fail?", results({}, CURVE), ("it <failed>",), "second/report.html"),
    Entry("third", "Is it there?", None, ("the run left no results",), "third/report.html"),
)


def page(tmp_path: Path) -> Page:
    return Page(write_index(tmp_path, "All figures", "quick", ENTRIES))


def test_every_published_value_is_listed_under_its_source(tmp_path: Path) -> None:
    found = page(tmp_path)
    assert found.of("h3")[:3] == ["paper 000, Figure 4.10", "paper 001, Table 1.1", "paper 001, Table 2.1"]
    cells = found.of("td")
    for row in PUBLISHED:
        assert row.name in cells
        assert row.source not in cells


def test_failures_are_counted_and_listed(tmp_path: Path) -> None:
    found = page(tmp_path)
    assert "2 failed" in found.of("span")
    assert {"it <failed>", "the run left no results"} <= set(found.of("li"))


def test_links_have_targets_on_the_page_or_existing_reports(tmp_path: Path) -> None:
    found = page(tmp_path)
    links = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert [link for link in links if link and not link.startswith("#")] == ["first/report.html", "second/report.html"]
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link and link.startswith("#")} <= set(ids)


def test_curves_are_drawn_where_there_are_points(tmp_path: Path) -> None:
    assert [tag for tag, _ in page(tmp_path).elements].count("svg") == 2


def test_a_page_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ResultsError, match="results not written"):
        write_index(tmp_path / "file", "t", "n", ENTRIES)


def test_the_index_lists_newest_runs_first_with_key_figures_and_failures(tmp_path: Path) -> None:
    for age, (name, failure) in enumerate((("new", ""), ("old", "nothing arrived\nmore"))):
        folder = tmp_path / name
        metrics = {"stage_us_00_a": 1.0, "wall_s": 1.0, **{f"m{number}": float(number) for number in range(9)}}
        made = replace(results(metrics), wall_begun=f"2001-02-0{3 - age}T00:00:00Z")
        write_results(made, folder / "results.json")
        (folder / "report.html").write_text("", encoding="utf-8")
        (folder / "failures.txt").write_text(failure, encoding="utf-8")
        for file in folder.iterdir():
            os.utime(file, (1000.0 - age, 1000.0 - age))
    found = Page(write_contents(tmp_path))
    links = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert links == ["new/report.html", "old/report.html"]
    text = found.source
    assert text.count("m0 0, m1 1, m2 2, m3 3</p>") == 2 and "stage_us" not in text and "wall_s" not in text
    assert '<p class="bad">nothing arrived</p>' in text
    assert text.index("2001-02-03 00:00:00 UTC") < text.index("2001-02-02 00:00:00 UTC")


def test_a_page_of_unfinished_runs_reloads_itself(tmp_path: Path) -> None:
    again = '<meta http-equiv="refresh" content="5">'
    assert again in write_index(tmp_path, "All", "running", (), 5).read_text(encoding="utf-8")
    assert again not in write_index(tmp_path, "All", "", ENTRIES).read_text(encoding="utf-8")
