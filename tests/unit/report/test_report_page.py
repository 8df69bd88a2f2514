"""The report as a page.

Strategy: made-up results become a page in a temporary folder, which is taken apart by html.parser: elements must be
closed in order, ids unique, texts escaped, and nothing may be fetched. Curves are tried that plots fall over: no
points, one, sizes with zero, a thousand, equal values, units with a dollar sign. A page is there whole or not at all.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pymodels.profiles import parse_settings
from pymodels.results import ResultsError, Series
from tb.report.figure import curve
from tb.report.markup import section
from tb.report.page import CSS, write_page
from tb.report.tables import Table
from tests.unit.report.madeup import ONE_WAY, PUBLISHED, SIZED, SIZES, STAGES, Question, results

VOID = {"meta", "br", "link", "img"}
CURVES = {
    "one_way": Series(SIZES, ONE_WAY, "B", "us"),
    "band<width>": Series(SIZES, tuple(n / us for n, us in zip(SIZES, ONE_WAY, strict=True)), "B", "MB/s"),
    "nothing": Series((), (), "B", "us"),
}
FULL = results({**SIZED, **STAGES, "half_bandwidth_B": 1432.0}, CURVES, PUBLISHED)


class Page(HTMLParser):
    """A page taken apart: elements with their attributes, text by element, and whether all were closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def of(self, tag: str) -> list[str]:
        """Return the texts directly within elements of a kind."""
        return [text for within, text in self.texts if within == tag]

    def all(self, name: str) -> list[str]:
        """Return all values of an attribute."""
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("made up")
    (folder / "trace.npy").touch()
    return Page(write_page(folder, Question(), FULL, ["sw0: <slack> & all"]))


def test_the_question_is_at_the_top_before_the_failures(full: Page) -> None:
    assert full.of("h1") == ["Is 1 < 2 & 2 > 1?"]
    assert "sw0: <slack> & all" in full.of("li")
    assert "failed" in full.of("span")
    headings = full.of("h2")
    assert headings[0] == "Curves"
    assert headings[-2:] == ["Cost of this run", "Other files"]


def test_warnings_are_listed_above_the_curves(tmp_path: Path) -> None:
    warned = Page(write_page(tmp_path, Question(), replace(FULL, warnings=("host.x: <no> effect",)), []))
    assert "host.x: <no> effect" in warned.of("li")
    assert "warnings" in warned.all("class")


def test_a_passed_run_is_marked_as_passed(tmp_path: Path) -> None:
    page = Page(write_page(tmp_path, Question(), results(), []))
    assert "passed" in page.of("span")
    assert page.of("h2") == ["Cost of this run"]


def test_tables_hold_metrics_and_published_values_with_their_kind(full: Page) -> None:
    cells = full.of("td")
    for text in (
        "64 KB",
        "560.250",
        "half_bandwidth_B",
        "1,432",
        "latency <short>",
        "predicted",
        "quoted",
        "0.800",
        "-",
    ):
        assert text in cells
    assert any("nothing was set" in text for text in full.of("p"))


def test_stages_are_a_bar_whose_parts_add_up(full: Page) -> None:
    parts = [float(style.split()[1]) for style in full.all("style") if style.startswith("flex:")]
    assert parts == [0.6, 0.3, 0.1, 0.5, 0.25, 0.25], "the stages, and where the wall time went"
    assert "wire and switch: 1.500 us, 30.0 %" in full.all("title")
    assert "together" in full.of("td")


def test_each_curve_with_points_is_one_figure(full: Page) -> None:
    tags = [tag for tag, _ in full.elements]
    assert tags.count("figure") == tags.count("svg") == 3
    assert full.of("h3") == ["one way", "band<width>", "measured / published"]
    assert {"0 B", "1 KB", "64 KB"} <= set(full.of("text"))


def test_nothing_is_fetched_and_nothing_is_executed(full: Page) -> None:
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in full.elements}
    assert [href for href in full.all("href") if not href.startswith("#")] == ["trace.npy"] * 2, (
        "below the title, and explained at the end"
    )
    assert not full.all("src")
    assert "default-src 'none'; style-src 'unsafe-inline'" in full.all("content")
    assert not re.search(r"url\((?!#)|@import", full.source)


def test_ids_are_unique_and_references_are_valid(full: Page) -> None:
    ids = full.all("id")
    assert len(ids) == len(set(ids))
    meant = [href[1:] for href in full.all("xlink:href")] + re.findall(r"url\(#([^)]+)\)", full.source)
    assert meant
    assert set(meant) <= set(ids)


def test_every_colour_of_a_figure_is_known_to_the_style_in_light_and_dark() -> None:
    css = CSS.read_text(encoding="utf-8")
    drawn = curve(CURVES["one_way"], "x", "f0")
    assert not re.search(r"#[0-9a-f]{6}\b", drawn)
    light, dark = css.split("prefers-color-scheme: dark", 1)
    for variable in set(re.findall(r"var\((--\w+)\)", drawn + css)):
        assert f"{variable}:" in light
        assert f"{variable}:" in dark


@pytest.mark.parametrize(
    "series",
    [
        Series((8.0,), (1.0,), "B", "us"),
        Series((0.0,), (0.0,), "B", "us"),
        Series((0, 1, 2, 1000, 1 << 24), (5, 5, 5, 5, 5), "B", "MB/s"),
        Series((3, 1, 2), (-1.0, 0.0, 1e9), "burst $x$", "ns"),
        Series(tuple(range(1000)), tuple(range(1, 1001)), "us", "us"),
    ],
    ids=["one point", "only zero", "equal values", "odd units", "many points"],
)
def test_odd_curves_are_drawn(series: Series, tmp_path: Path) -> None:
    page = Page(write_page(tmp_path, Question(), results(series={"odd": series}), []))
    assert [tag for tag, _ in page.elements].count("svg") == 1
    assert "nan" not in page.source.lower()
    if series.x_unit != "B":
        assert series.x_unit in page.of("text")


def test_the_same_result_gives_the_same_page(tmp_path: Path) -> None:
    first = write_page(tmp_path, Question(), FULL, []).read_bytes()
    assert write_page(tmp_path, Question(), FULL, []).read_bytes() == first


def test_a_page_is_written_atomically(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()  # a folder that the page cannot replace
    with pytest.raises(ResultsError):
        write_page(tmp_path, Question(), results(), [])
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_date_command_and_files_are_below_the_title(tmp_path: Path) -> None:
    (tmp_path / "sim.log").write_text("", encoding="utf-8")
    made = replace(results(), wall_begun="2001-02-03T04:05:06Z", settings={"a": 3, "b.c": "x y"}, given=("a", "b.c"))
    text = write_page(tmp_path, Question(), made, []).read_text(encoding="utf-8")
    head = text.partition("<header>")[2].partition("</header>")[0]
    assert "2001-02-03 04:05:06 UTC" in head
    command = unescape(head.partition(" UTC · <code>")[2].partition("</code>")[0])
    words = shlex.split(command)
    assert words[:2] == ["sanlab", "run"] and words[-1] == "made_up"
    assert {"--seed=3", "--sim=icarus", "--cluster=two_hosts", "--profile=lanai9+p2-300"} <= set(words)
    assert parse_settings(next(word for word in words if word.startswith("--set="))[6:]) == {"a": "3", "b.c": "x y"}
    assert 'href="sim.log"' in head


def test_tables_of_many_rows_are_folded() -> None:
    few, many = (Table(("a",), tuple((str(n),) for n in range(count))) for count in (24, 25))
    assert "<details>" not in "".join(section("few", few))
    assert "".join(section("many", many)).count("<summary>25 rows</summary>") == 1
