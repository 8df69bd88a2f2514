"""Page of EPOS's compositions, in a browser and as text.

Strategy: the tables of the page are compared with a layout and with the committed costs, for a few compositions. In
headless Chromium one composition is visible at first; a click on another one shows that. The console must be empty, and
nothing may be wider than the screen.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from firmware.epos.nic.layout import Place
from firmware.epos.options import Options
from pymodels.costs import PathTable
from tb.program.epos.composition import COMPOSITIONS, added, counts, header, main, memory, page, pipeline
from tests.tools.browser import browser

SHOWN = "[...document.querySelectorAll('.of')].filter(one => one.offsetHeight > 0).map(one => one.innerText)"


def test_the_pipeline_lists_the_calls_in_order_and_reversed_for_incoming_messages() -> None:
    called = {(side, cut): names for side, cut, _, names in pipeline(("flow", "reliability")).rows}
    assert called["host", "frame"] == "flow → reliability"
    assert called["nic", "rx"] == "reliability → flow"
    assert called["nic", "stored"] == "reliability" and called["nic", "tx"] == "no protocol"
    switched = {(side, cut): names for side, cut, _, names in pipeline(("reliability", "active")).rows}
    assert switched["nic", "stored"] == "reliability, if the frame says so"


@pytest.mark.parametrize("chosen", [(), ("flow", "reliability"), ("protection",)])
def test_header_memory_and_counts_are_those_that_the_code_uses(chosen: tuple[str, ...]) -> None:
    place = Place(Options.from_values({"protocols": "+".join(chosen)}).on(True), 8)
    assert [int(row[0]) for row in header(chosen).rows] == list(range(0, place.header_bytes, 4))
    assert {row[1] for row in header(chosen).rows[3:]} == set(place.words)
    told = {row[0]: (int(row[1], 16), int(row[2].replace(",", ""))) for row in memory(chosen).rows[:-1]}
    assert told == dict(place.parts)
    nic = PathTable.load("nic", "epos", composition=chosen)
    assert {row[1]: int(row[2]) for row in counts(chosen).rows if row[0] == "nic"} == {
        name: cost.instructions for name, cost in nic.paths.items()
    }
    assert bool([row for row in counts(chosen).rows if row[3]]) is bool(chosen)


def test_the_cost_of_each_protocol_is_listed_beside_that_of_all() -> None:
    assert added(()).rows == ()
    flow, both = added(("flow",)).rows[0], added(("flow", "reliability")).rows
    assert both[0] == flow and both[-1][0] == "together" and flow[2] == "+4" and both[-1][2] == "+8"


def test_an_uncompiled_composition_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flaw"]) == 2
    assert "composition 'flaw': not compiled; did you mean 'flow'?" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_in_a_browser_one_composition_is_visible_and_another_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(page(("flow", "reliability")), encoding="utf-8")
    with browser(tmp_path / "profile") as opened:
        for width in (390, 1280):
            assert opened.show(file, width, "light") == []
            assert opened.value("document.documentElement.scrollWidth") <= width
            (seen,) = opened.value(SHOWN)
            assert seen.startswith("flow+reliability") and "EPOS_" not in seen
            at = COMPOSITIONS.index(("rendezvous",))
            opened.value(f"document.querySelector('label[for=c{at}]').click()")
            opened.value("document.querySelectorAll('details').forEach(one => one.open = true)")
            (seen,) = opened.value(SHOWN)
            assert seen.startswith("rendezvous") and "epos_look_grant" in seen
