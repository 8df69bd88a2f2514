"""The index of all reports: runs, newest first, with key figures and failures.

Strategy: made-up results become a page that is taken apart by the reader of tests/unit/report/test_report_page.py. What
is shown is compared with what was put in.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pymodels.results import write_results
from tb.report.contents import write_contents
from tests.unit.report.madeup import results
from tests.unit.report.test_report_page import Page


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
