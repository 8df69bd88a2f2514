"""Page of `make figures`: failures first, then the papers in their own order, then all other runs.

Strategy: made-up runs of real studies become a page of made-up papers and published values, which is taken apart by the
reader of tests/unit/report/test_report_page.py: closed elements, unique ids, nothing fetched. What is shown, and its
order, is compared with what was put in. `papers.toml` is compared with the published values, the runs of `make figures`
and the series of their studies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pymodels.errors import ConfigError
from pymodels.published import Published, load_published
from pymodels.results import Kind, ResultsError, Series
from tb.figures import gallery as module
from tb.figures.gallery import Entry, body, gallery, others, write_gallery
from tb.figures.jobs import Job, jobs
from tb.figures.papers import Curve, Drawing, Papers, Place, load_papers
from tb.plan import studies
from tb.report.figure import curves
from tb.report.measured import PLACE as PLACEHOLDER
from tb.report.measured import declared, definition
from tb.report.page import document
from tests.unit.report.madeup import results
from tests.unit.report.test_report_page import Page

NAMES = ("echo_pingpong", "grim_retry", "silence")
VALUES = (
    Published(
        *("One way, 16 B", "paper 9, Figure 2", 2.5, "us", Kind.PREDICTED, "echo_pingpong", "one_way_us_16B"),
        *("lanai9+p2-300", 0.1, 2.2),
        family="grim",
        table="Figure 2",
    ),
    Published(
        *("Lost <messages>", "paper 9, Table 1", 0, "messages", Kind.PREDICTED, "echo_pingpong", "lost"),
        *("lanai9+p2-300", 0.1, 0.0),
        family="grim",
        table="Table 1",
    ),
)
CURVES = Drawing("one way over payload", (Curve("echo_pingpong", "one_way_*", "echo"),))
RATE = Drawing("rate", (Curve("echo_pingpong", "one_way_rate", ""),))
PAPERS = Papers(
    {"9": "A <paper>", "8": "Another"},
    (
        Place("9", "Table 1", "losses", "None is lost.", ("Table 1",)),
        Place("9", "Figure 2", "latency & size", "Long ones take longer.", ("Figure 2",), drawings=(CURVES,)),
        Place("9", "Figure 3", "nothing", "It is not measured.", runs=("no_such_run",)),
        Place("8", "Figure 1", "retries", "They cost time.", (), ("grim_retry",), (RATE,)),
    ),
)
SERIES = {
    "one_way_fast": Series((4, 16), (1.0, 2.0), "B", "us"),
    "one_way_slow": Series((4, 16), (3.0, 4.0), "B", "us"),
    "one_way_rate": Series((4, 16), (3.0, 4.0), "B", "MB/s"),
    "one_way_none": Series((), (), "B", "us"),
}


@pytest.fixture(name="found", scope="module")
def fixture_found(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """Make three runs: one with curves and values, one that failed, and one that belongs to no place."""
    made = jobs(NAMES, (), True, "icarus", tmp_path_factory.mktemp("runs"))
    first = replace(
        results({"one_way_us_16B": 2.0, "lost": 0.0}, SERIES),
        study="echo_pingpong",
        given=("run.stuck_waves",),
        settings={"run.stuck_waves": 0},
    )
    by_name = {job.name: job for job in made}
    return [
        Entry(by_name["echo_pingpong"], first, ()),
        Entry(by_name["grim_retry"], replace(results({"x": 1.0}), study="grim_retry"), ("it <failed>",)),
        Entry(by_name["silence"], replace(results({"quiet": 7.0}), study="silence"), ()),
    ]


def page(entries: Sequence[Entry], tmp_path: Path) -> Page:
    """Write the page of some runs, and take it apart."""
    path = tmp_path / "index.html"
    path.write_text(document("Figures", body("quick", gallery(entries, PAPERS, VALUES))), encoding="utf-8")
    return Page(path)


def test_failed_runs_are_first_with_reason_and_command(found: list[Entry], tmp_path: Path) -> None:
    text = page(found, tmp_path).source
    assert "1 failed" in text
    block = text[text.index("Failed runs") : text.index("</ul>")]
    assert (
        "it &lt;failed&gt;" in block
        and "make run STUDY=grim_retry" in block
        and 'href="grim_retry/report.html"' in block
    )
    assert "echo_pingpong" not in block and text.index("Failed runs") < text.index("<h2")
    assert "Failed runs" not in page(found[:1], tmp_path).source


def test_a_run_without_results_has_no_link(found: list[Entry], tmp_path: Path) -> None:
    lost = [replace(one, results=None, failures=("killed",)) for one in found]
    told = page(lost, tmp_path)
    assert not [link for link in told.all("href") if link.endswith("report.html")]
    assert told.source.count("killed") == 3 and "<figure>" not in told.source


def test_papers_and_places_are_in_their_own_order(found: list[Entry], tmp_path: Path) -> None:
    told = page(found, tmp_path)
    assert told.of("h2") == ["Paper 9: A <paper>", "Paper 8: Another", "Other runs"]
    assert [text for text in told.of("h3") if ": " in text] == [
        *("Table 1: losses", "Figure 2: latency & size", "Figure 1: retries")
    ]
    for said in ("None is lost.", "Long ones take longer.", "They cost time.", "Not measured by these runs: Figure 3."):
        assert said in told.of("p")


def test_curves_carry_published_points_and_strips_the_ratios(found: list[Entry], tmp_path: Path) -> None:
    text = page(found, tmp_path).source
    drawn = re.findall(r'aria-label="([^"]*)"', text)
    assert "one way over payload: us over B, with the published points" in drawn
    assert "published 2.500 us, measured 2" in drawn
    assert ">echo fast<" in text and ">echo slow<" in text and ">published<" in text
    assert "echo rate" not in text and "echo none" not in text, "another unit; no points"
    assert "no ratio to 0" in text and "Lost &lt;messages&gt;" in text
    assert text.count("<figure>") == 2, "each figure is drawn once"


def test_each_place_names_settings_command_and_report_of_its_runs(found: list[Entry], tmp_path: Path) -> None:
    text = page(found, tmp_path).source
    place = text[text.index("latency &amp; size") :]
    line = place[place.index('class="soft run"') : place.index("</section>")]
    assert "make run STUDY=echo_pingpong" in line and "two_hosts, lanai9+p2-300, icarus, seed 3" in line
    assert 'href="echo_pingpong/report.html"' in line
    assert "stuck_waves" not in line, "settings are those of the command, once"


def test_a_run_of_no_place_is_in_the_last_table_only(found: list[Entry], tmp_path: Path) -> None:
    assert [one.job.name for one in others(gallery(found, PAPERS, VALUES))] == ["silence"]
    text = page(found, tmp_path).source
    last = text[text.index('id="others"') :]
    assert "quiet 7" in last and 'href="silence/report.html"' in last and "grim_retry" not in last
    assert "silence" not in text[: text.index('id="others"')]


def test_links_have_targets_and_ids_are_unique(found: list[Entry], tmp_path: Path) -> None:
    told = page(found, tmp_path)
    ids = told.all("id")
    assert len(ids) == len(set(ids)) and {link[1:] for link in told.all("href") if link.startswith("#p")} <= set(ids)
    before = told.source[: told.source.index("<svg")]
    assert before.count("<a ") < 8, "no list of links before the first picture"
    assert "<script" not in told.source and "http" not in "".join(told.all("src"))


def test_equal_curves_are_drawn_once_while_runs_end(
    found: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []

    def counted(*words: Any) -> str:
        drawn.append(words)
        return curves(*words)

    monkeypatch.setattr(module, "curves", counted)
    module._drawn.cache_clear()
    first = page(found[:1], tmp_path).source
    again = page(found, tmp_path).source
    assert len(drawn) == 2 and first.count("<figure>") == again.count("<figure>") == 2


def test_the_page_of_the_repository_is_written_and_a_failure_to_write_is_reported(
    found: list[Entry], tmp_path: Path
) -> None:
    path = write_gallery(tmp_path, "quick", found, 5)
    assert '<meta http-equiv="refresh" content="5">' in path.read_text(encoding="utf-8")
    assert "no run has ended" in write_gallery(tmp_path, "", ()).read_text(encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ResultsError, match="results not written"):
        write_gallery(tmp_path / "file", "", ())


def test_every_published_value_belongs_to_one_place() -> None:
    known = load_papers()
    assert known.missing(load_published()) == []
    several = [one.name for one in load_published() if sum(place.has(one) for place in known.places) > 1]
    assert several == []
    names = {(place.paper, table) for place in known.places for table in place.tables}
    used = {(place.paper, value.table) for value in load_published() for place in known.places if place.has(value)}
    assert names == used, "a place names a table without rows"


def test_places_are_in_the_order_of_the_papers() -> None:
    known = load_papers()
    assert list(known.titles) == sorted(known.titles) and len(known.titles) == 5
    assert {place.paper for place in known.places} == set(known.titles)
    for number in known.titles:
        for kind in ("Figure", "Table"):
            told = [re.match(rf"{kind}s? (\d+)\.(\d+)", place.place) for place in known.of(number)]
            order = [(int(one[1]), int(one[2])) for one in told if one]
            assert order == sorted(order), f"paper {number}, {kind}"


def test_runs_and_series_of_the_places_exist(tmp_path: Path) -> None:
    skipped: list[str] = []
    known: dict[str, Job] = {
        job.name: job for job in jobs(studies.names(), load_published(), True, "verilator", tmp_path, skipped)
    }
    papers = load_papers()
    assert [run for place in papers.places for run in place.runs if run not in known] == []
    for curve in (curve for place in papers.places for drawing in place.drawings for curve in drawing.curves):
        assert curve.run in known, curve
        study = known[curve.run].info.name
        patterns = [PLACEHOLDER.sub("any", one.pattern) for one in declared()[study]["series"]]
        fits = definition(study, "series", curve.series.replace("*", "any")) or any(map(curve.matched, patterns))
        assert fits, f"{curve}: no such series in measured.toml"


@pytest.mark.parametrize(
    ("pattern", "name", "label"),
    [
        ("one_way", "one_way", "one way"),
        ("one_way", "one_way_x", None),
        ("one_way_*", "one_way_a_b", "a b"),
        ("*_added", "dma_added", "dma"),
        ("aa*aa", "aaa", None),
        ("one_way_*", "two_ways_x", None),
    ],
)
def test_a_star_in_the_name_of_a_series_becomes_its_label(pattern: str, name: str, label: str | None) -> None:
    assert Curve("run", pattern, "").matched(name) == label
    assert Curve("run", pattern, "VIA").matched(name) == (
        None if label is None else "VIA" if "*" not in pattern else f"VIA {label}"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('[[place]]\npaper = "9"\n', "invalid place: missing place, title, says"),
        ('[[place]]\npaper = "7"\nplace = "a"\ntitle = "b"\nsays = "c"\n', "unknown paper: '7'"),
        ('[[place]]\npaper = "9"\nplace = "a"\ntitle = "b"\nsays = "c"\nx = 1\n', "unknown x"),
        (
            '[[place]]\npaper = "9"\nplace = "a"\ntitle = "b"\nsays = "c"\n[[place.figure]]\ntitle = "d"\n',
            "invalid drawing",
        ),
    ],
)
def test_an_invalid_place_is_rejected(text: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "papers.toml"
    file.write_text(f'[[paper]]\nnumber = "9"\ntitle = "t"\n{text}', encoding="utf-8")
    with pytest.raises(ConfigError, match=error):
        load_papers(file)
