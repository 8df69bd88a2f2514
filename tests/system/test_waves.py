"""Waves of a real run, on both simulators: the views find every signal they want, and a window is a window.

Strategy: a small run is made with waves from 15 to 25 us. The file is read with the reader of Surfer: it must begin and
end there. The views must list all that they can list of a cluster, which fails when a signal of the hardware changes
its name. With waves the results are what they are without.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
import pywellen
from rich.console import Console

from pymodels.results import differences, read_results
from tb import studies
from tb.report import waves
from tb.report.recorded import read_recorded
from tb.request import plan, resolve
from tb.run import execute, leave_views
from tb.sim.tools import SIMULATORS
from tests.system.runs import must

FROM, TO = 15_000_000, 25_000_000


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_waves_of_a_window_with_views_that_find_their_signals(simulator: str, tmp_path: Path) -> None:
    asked = resolve("echo_pingpong", simulator, "1", True, "", "", "repetitions=1", SIMULATORS)
    asked = replace(asked, folder=str(tmp_path), window_ps=(FROM, TO))
    info = studies.load("echo_pingpong")
    outcome = execute(asked, info, plan(asked, info), Console(file=io.StringIO()))
    assert outcome.passed, outcome.failures
    leave_views(asked, tmp_path, Console(file=io.StringIO()))
    known = waves.signals_of(tmp_path / waves.FILE)
    legend = read_recorded(tmp_path).legend
    hosts, ports = len(legend.hosts), len(legend.links)
    of_a_nic = waves.BUS_SIGNALS + waves.NIC_SIGNALS + waves.CARD_SIGNALS["gen_lanai9"] + waves.PORT_SIGNALS
    wanted = hosts * len(waves.HOST_SIGNALS + of_a_nic)
    wanted += len(waves.SWITCH_SIGNALS) + ports * len(waves.SWITCH_PORT_SIGNALS)
    assert sum(len(group.signals) for group in waves.groups(legend, known)) == wanted
    times: list[int] = []
    pywellen.Waveform(str(tmp_path / waves.FILE)).stream_changes(lambda time, *_: times.append(time), None)
    assert len(times) > 1000
    assert min(times) >= FROM
    assert max(times) <= TO
    plain = must("echo_pingpong", simulator, tmp_path / "plain", "repetitions=1")
    assert differences(read_results(tmp_path / "results.json"), plain.results, same_simulator=False) == []
