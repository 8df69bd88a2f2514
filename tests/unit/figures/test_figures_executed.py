"""The page of what compiled paths take says what the committed tables say, and agrees with what a run has measured.

Strategy: the page is written anew and compared; one that was changed is found. The search of Figure 4.10, computed from
the paths, is held against the record of the study that runs it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs.executed import PACES
from tb.figures.executed import MEASURED, PAGE, TITLES, all_rows, clocks_ps, main
from tb.figures.record import load_record
from tb.studies.costs.executed_costs import CHANNELS, USUAL, search_clocks


def test_the_committed_page_matches_the_tables() -> None:
    assert main(["--check"]) == 0, "run python -m tb.figures.executed"


def test_a_differing_page_is_reported_and_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "executed.md"
    other.write_text(PAGE.read_text(encoding="utf-8").replace("| via | ", "| via | 1", 1), encoding="utf-8")
    assert main(["--check"], other) == 1
    assert main([], other) == 0
    assert capsys.readouterr().out == "executed.md: differs\nexecuted.md: written\n"
    assert other.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("chip", PACES)
def test_computed_search_time_equals_the_measured_one_except_for_the_stated_clocks(chip: str) -> None:
    rows, record = all_rows(chip), load_record()
    for count in CHANNELS:
        charged = search_clocks(rows, USUAL, count)[0] + MEASURED
        for ps in clocks_ps(chip):
            name = f"Search of {count} channel{'s' * (count > 1)}, {TITLES[chip]}"
            measured = record.get(name) or record[f"{name} at {1e6 / ps:.0f} MHz"]
            assert measured.measured == pytest.approx(charged * ps / 1e6), name
