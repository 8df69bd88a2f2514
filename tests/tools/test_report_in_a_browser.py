"""Pages in a real browser: headless Chromium, widths of a phone and a desktop, light and dark.

Strategy: a page with all elements and an index are built once and opened four times each. The console must be empty,
and nothing may be wider than the screen. Every plot and bar must be visible at its size, and texts must contrast with
their background. One browser serves all cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.published import load_changes, load_published
from pymodels.results import Series, write_results
from tb.figures.gallery import Entry, body, gallery
from tb.figures.jobs import jobs
from tb.figures.pages import html
from tb.figures.record import Interval, load_record
from tb.figures.rows import rows
from tb.report.analysis import analyse
from tb.report.contents import write_contents
from tb.report.markup import bar
from tb.report.page import document, write_page
from tests.tools.browser import Browser, browser
from tests.unit.figures.test_gallery import PAPERS, SERIES, VALUES
from tests.unit.report.madeup import ONE_WAY, PUBLISHED, SIZED, SIZES, Question, results
from tests.unit.report.madeup_trace import leave

CASES = [(width, scheme) for width in (390, 1280) for scheme in ("light", "dark")]
PEAK = "FirmVIA, peak bandwidth"
SEEN = """
[...document.querySelectorAll('%s')].map(element => {
  const box = element.getBoundingClientRect();
  return [box.left, box.right, box.width, box.height];
})"""
CONTRAST = """
(() => {
  const light = text => {
    const parts = text.match(/[0-9.]+/g).slice(0, 3).map(part => part / 255);
    const linear = parts.map(part => part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const behind = light(getComputedStyle(document.body).backgroundColor);
  const least = [...document.querySelectorAll('h1, h2, p, td, th, figcaption, svg text, a')].map(element => {
    const style = getComputedStyle(element);
    const front = light(element.tagName === 'text' ? style.fill : style.color);
    return (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05);
  });
  return Math.min(...least);
})()"""


OVERLAPS = """
[...document.querySelectorAll('svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], at) => boxes.slice(at + 1).filter(([b, q]) =>
    p.left < q.right - 0.5 && q.left < p.right - 0.5 && p.top < q.bottom - 0.5 && q.top < p.bottom - 0.5
  ).map(([b]) => a + ' | ' + b));
})"""


@pytest.fixture(scope="module", name="opened")
def fixture_opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module", name="report")
def fixture_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "made_up"
    folder.mkdir()
    leave(folder)
    curves = {
        "one_way": Series(SIZES, ONE_WAY, "B", "us"),
        "bandwidth": Series(SIZES, tuple(n / us for n, us in zip(SIZES, ONE_WAY, strict=True)), "B", "MB/s"),
    }
    made = results({**SIZED, "a_metric_with_a_very_long_name_that_does_not_break_anywhere": 1.0}, curves, PUBLISHED)
    made = replace(made, versions={"simulator": "Verilator 5.49"}, commits={"sanlab": "3ff39614b2e7dbbda557" * 2})
    write_results(made, folder / "results.json")
    return write_page(folder, Question(), made, ["something failed: " + "very " * 40 + "badly"], analyse(folder))


@pytest.mark.parametrize(("width", "scheme"), CASES)
def test_a_report_is_visible_completely_with_an_empty_console(
    opened: Browser, report: Path, width: int, scheme: str
) -> None:
    assert opened.show(report, width, scheme) == []
    assert opened.value("document.documentElement.scrollWidth") <= width
    plots = opened.value(SEEN % "svg")
    assert len(plots) == 3, "two curves, and the published values"
    for left, right, wide, high in plots:
        assert left >= 0
        assert right <= width
        assert wide > 250
        assert high > 80
    bars = opened.value(SEEN % ".bar")
    assert len(bars) == 2, "the stages of one size, and the wall time"
    assert all(right <= width and wide > 300 and high > 20 for _, right, wide, high in bars)
    assert opened.value(CONTRAST) > 4.4


def test_texts_of_figures_do_not_overlap_on_a_phone(opened: Browser, tmp_path: Path) -> None:
    sizes = (0, 4, 8, 16, 32, 64, 128, 256, 1024, 2048, 4096, 16384, 65536)
    curves = {
        f"rate_by_{name}": Series(sizes, tuple(float(at + number) for number in range(13)), "B", "messages/s")
        for at, name in enumerate(("descriptors", "notifications", "translations", "completions", "a", "b"))
    }
    places = {"time": Series((0.0, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 4.0), "code: BT CG EP IS", "us")}
    made = results({}, {**curves, **places})
    page = write_page(tmp_path, Question(), made, [])
    assert opened.show(page, 390, "light") == []
    assert opened.value("document.querySelectorAll('svg').length") == 2
    assert opened.value(OVERLAPS) == []
    cut = "[...document.querySelectorAll('svg text')].filter(t => t.getBoundingClientRect().right > %d).length"
    assert opened.value(cut % 390) == 0


def test_names_in_tables_are_not_broken_on_a_phone(opened: Browser, report: Path) -> None:
    opened.show(report, 390, "light")
    names = opened.value(SEEN % "td:first-child")
    assert min(wide for _, _, wide, _ in names if wide) > 40
    heights = [high for _, _, _, high in opened.value(SEEN % ".use td:first-child")]
    assert heights and max(heights) < 45


def test_bars_take_a_common_scale_when_it_is_chosen(opened: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    one = bar([("a", 0.5), ("b", 0.5)], "short", 0.25)
    two = bar([("a", 1.0)], "long")
    box = '<input type="checkbox" id="scale"> <label for="scale">common scale</label>'
    page.write_text(document("bars", [box, *one, *two]), encoding="utf-8")
    opened.show(page, 1280, "light")
    before = [wide for _, _, wide, _ in opened.value(SEEN % ".bar")]
    opened.value("document.querySelector('label').click()")
    after = [wide for _, _, wide, _ in opened.value(SEEN % ".bar")]
    assert before[0] == before[1] == after[1]
    assert after[0] / after[1] == pytest.approx(0.25, abs=0.06)


@pytest.mark.parametrize(("width", "scheme"), CASES)
def test_an_index_is_visible_completely_with_an_empty_console(
    opened: Browser, report: Path, width: int, scheme: str
) -> None:
    assert opened.show(write_contents(report.parent.parent), width, scheme) == []
    assert opened.value("document.documentElement.scrollWidth") <= width
    assert opened.value("document.querySelectorAll('.index a').length") == 1
    assert opened.value(CONTRAST) > 4.4


@pytest.mark.parametrize(("width", "scheme"), CASES)
def test_the_page_of_fidelity_is_visible_completely_with_an_empty_console(
    opened: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    page = tmp_path / "index.html"
    today = load_record()[PEAK]
    drawn = Interval(70.0, 101.0, 102.0, today.measured, 24, 0, today.command, "2001-02-03")
    known = rows(load_published(), [], load_record(), {PEAK: drawn})
    page.write_text(html(known, load_changes()), encoding="utf-8")
    assert opened.show(page, width, scheme) == []
    assert opened.value("document.documentElement.scrollWidth") <= width
    names = opened.value(SEEN % "td:first-child")
    assert min(wide for _, _, wide, _ in names) > 40, "names are not broken letter by letter"
    bars = opened.value(SEEN % "svg.interval")
    assert bars and all(left >= 0 and wide == 120 and high == 14 for left, _, wide, high in bars)
    assert opened.value("document.querySelectorAll('.bad').length") > 0, "what is outside is red"
    assert opened.value(CONTRAST) > 4.4


@pytest.mark.parametrize(("width", "scheme"), CASES)
def test_the_page_of_figures_is_visible_completely_with_an_empty_console(
    opened: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    (job,) = jobs(["echo_pingpong"], (), True, "icarus", tmp_path)
    made = replace(results({"one_way_us_16B": 2.0, "lost": 0.0}, SERIES), study="echo_pingpong")
    shown = gallery([Entry(job, made, ("it broke",))], PAPERS, VALUES)
    page = tmp_path / "index.html"
    page.write_text(document("Figures", body("quick", shown)), encoding="utf-8")
    assert opened.show(page, width, scheme) == []
    assert opened.value("document.documentElement.scrollWidth") <= width
    strips = opened.value(SEEN % "svg.strip")
    assert len(strips) == 3, "the axis of each table, and the row that has a ratio"
    assert all(left >= 0 and right <= width and wide > 250 for left, right, wide, _ in strips if wide)
    assert opened.value(OVERLAPS) == []
    assert opened.value(CONTRAST) > 4.4


def test_light_is_light_and_dark_is_dark(opened: Browser, report: Path) -> None:
    opened.show(report, 1280, "light")
    light = opened.value("getComputedStyle(document.body).backgroundColor")
    opened.show(report, 1280, "dark")
    assert (light, opened.value("getComputedStyle(document.body).backgroundColor")) == (
        "rgb(255, 255, 255)",
        "rgb(21, 24, 28)",
    )


def test_the_browser_reports_errors(opened: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<script>console.error('so it is'); nothing.there</script><img src='missing.png'>", encoding="utf-8"
    )
    said = opened.show(page, 390, "light")
    assert len(said) >= 2
    assert any("so it is" in line for line in said)
