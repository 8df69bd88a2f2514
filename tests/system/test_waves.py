"""Waves of a real run, on both simulators: the views find all of their signals, and a window has its limits.

Strategy: a small run is made with waves from 15 to 25 us. The file is read with the reader of Surfer and must begin and
end there. The views must list all signals of a cluster that they can list, which fails when a signal of the hardware is
renamed. The slow path on Verilator's public interface has Verilator's own waves, with the clocks of the pins. Results
with waves equal those without. The fast main loop omits clock edges and writes clocks into the waves itself: every
clock wire must show its clock. Signals of that loop must be absent, but not hardware signals with similar names.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
import pywellen
from rich.console import Console

from pymodels.link.characters import Symbol
from pymodels.results import differences, read_results
from tb.ask.measure import measure, open_file
from tb.nics.lanai9 import WAVES as VIEW
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.report import waves
from tb.report.activity import SIGNALS, activity
from tb.report.fst import times_of
from tb.report.lives import lives_of
from tb.report.recorded import read_recorded
from tb.report.symbols import read_symbols
from tb.run.command import execute, leave_views
from tb.tools.paths import SIMULATORS
from tests.system.runs import must

FROM, TO = 15_000_000, 25_000_000
PERIODS = {"clk_0": 7500, "clk_1": 6250, "clk_2": 15000}
"""Clock periods of a host: NIC, link, PCI; in ps."""
CABLE = 25_000
"""Time of a character on a cable and in the register behind it; in ps."""
LOOP = re.compile(r"(.*_)?(cycle|needed|awake|alarm|sleep)(_\d)?|(gated_clk|refresh)_\d+|(.*_)?gated_clk|busy|unused.*")
"""Names of signals of the main loop."""
ABSENT = {"fabric_clk", "far_clk"}
"""Clocks of cards that this cluster does not have."""
SENDER = "node.node.card.nic.u_net.u_send"
"""Part of a host with edges of its own."""
HARDWARE = {"config_cycle_q", "bus_busy", "count_busy", "refresh_due"}
"""Hardware signals with names like those of the main loop."""


@pytest.fixture(scope="module", params=SIMULATORS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the simulator and the folder of the run."""
    simulator, folder = str(request.param), tmp_path_factory.mktemp("waves")
    asked = resolve("echo_pingpong", simulator, "1", True, "", "", "repetitions=1", SIMULATORS)
    asked = replace(asked, folder=str(folder), window_ps=(FROM, TO))
    info = studies.load("echo_pingpong")
    outcome = execute(asked, info, plan(asked, info), Console(file=io.StringIO()))
    assert outcome.passed, outcome.failures
    leave_views(asked, folder, Console(file=io.StringIO()))
    return simulator, folder


def test_waves_of_a_window_with_views_that_find_their_signals(run: tuple[str, Path], tmp_path: Path) -> None:
    simulator, folder = run
    known = waves.signals_of(folder / waves.FILE)
    legend = read_recorded(folder).legend
    hosts, ports = len(legend.hosts), len(legend.links)
    of_a_nic = VIEW.bus + VIEW.nic + VIEW.port
    wanted = hosts * len(waves.HOST_SIGNALS + of_a_nic)
    wanted += len(waves.SWITCH_SIGNALS) + ports * len(waves.SWITCH_PORT_SIGNALS)
    wanted += hosts * (len(SIGNALS["cpu"]) + len(SIGNALS["nic"]))
    assert sum(len(group.signals) for group in waves.groups(legend, known, ends=legend.hosts[:1])) == wanted
    times: list[int] = []
    pywellen.Waveform(str(folder / waves.FILE)).stream_changes(lambda time, *_: times.append(time), None)
    assert len(times) > 1000
    assert min(times) >= FROM
    assert max(times) <= TO
    plain = must("echo_pingpong", simulator, tmp_path / "plain", "repetitions=1")
    assert differences(read_results(folder / "results.json"), plain.results, same_simulator=False) == []


def test_measured_intervals_of_a_cable_have_its_delay(run: tuple[str, Path]) -> None:
    file = open_file(run[1] / waves.FILE)
    found = measure(file, f"paris.tx={int(Symbol.GAP)}", "s0.port0.rx=GAP").found
    assert len(found.begin) and found.ended.all() and set(found.lengths.tolist()) == {CABLE}


def test_texts_of_software_have_the_times_of_the_trace(run: tuple[str, Path]) -> None:
    """Compare with the trace: the file has a change at each time at which software acts."""
    recorded = read_recorded(run[1])
    texts = activity(recorded, lives_of(recorded))
    file = variables(run[1])
    times = set(times_of(run[1] / waves.FILE).tolist())
    for text in texts:
        changes = [(time, value) for time, value in text.changes if min(times) < time <= TO]
        assert times.issuperset(time for time, _ in changes), text
        shown = [(time, value) for time, value in file[".".join((*text.scopes, text.name))].signal if time > min(times)]
        assert shown == changes
    names = {".".join((*text.scopes, text.name)) for text in texts if any(FROM < time < TO for time, _ in text.changes)}
    assert names >= {"paris.cpu.call", "paris.cpu.path", "paris.nic.path", "metz.nic.receiving"}


def test_program_counters_have_a_name_at_any_time_of_the_window(tmp_path: Path) -> None:
    asked = resolve("echo_pingpong", "icarus", "1", True, "", "", "repetitions=1 nic.firmware=c,python", SIMULATORS)
    asked = replace(asked, folder=str(tmp_path), window_ps=(30_000_000, 31_000_000))
    info, quiet = studies.load("echo_pingpong"), Console(file=io.StringIO())
    assert execute(asked, info, plan(asked, info), quiet).passed
    leave_views(asked, tmp_path, quiet)
    path = "top.cluster.host_{}.card.core.gen_core.u_sleep.u_core.at_q"
    view = (tmp_path / waves.GTKWAVE).read_text(encoding="utf-8")
    assert path.format("paris") in view and path.format("metz") not in view
    [(hosts, names)] = read_symbols(tmp_path)
    values = {value for _, value in variables(tmp_path)[path.format("paris")].signal if isinstance(value, int)}
    assert hosts == {"paris"} and len(values) > 10 and values <= set(names)


@pytest.mark.parametrize("run", ["verilator"], indirect=True)
def test_every_wire_of_a_clock_shows_its_clock_with_its_period(run: tuple[str, Path]) -> None:
    found = variables(run[1])
    for host in ("host_paris", "host_metz"):
        clocks = {pin: list(found[f"{host}.{pin}"].signal) for pin in PERIODS}
        for pin, levels in clocks.items():
            assert [level for _, level in levels] == [index % 2 for index in range(len(levels))]
            assert {time % PERIODS[pin] for time, level in levels if level} == {0}
        wires = {name for name in found if re.match(rf"{host}\..*(clk|clk_\d)$", name)}
        wrong = {name for name in wires if list(found[name].signal) not in clocks.values()}
        assert {name.split(".")[-1] for name in wrong} == ABSENT
        assert list(found[f"{host}.{SENDER}.clk"].signal) == clocks["clk_0"]


@pytest.mark.parametrize("run", ["verilator"], indirect=True)
def test_waves_show_the_hardware_and_not_the_loop_that_drives_it(run: tuple[str, Path]) -> None:
    found = {name.split(".")[-1] for name in variables(run[1])}
    assert {name for name in found if LOOP.fullmatch(name)} <= HARDWARE
    assert found >= HARDWARE


def test_waves_of_the_public_eval_show_the_clock_and_the_clocked_signals(tmp_path: Path) -> None:
    settings = "clocks=1000 points=2 run.public_eval=1"
    asked = resolve("switch_saturation", "verilator", "1", True, "", "", settings, SIMULATORS)
    info = studies.load("switch_saturation")
    asked = replace(asked, folder=str(tmp_path))
    execute(asked, info, plan(asked, info), Console(file=io.StringIO()))
    found = variables(tmp_path)
    rises = [time for time, level in found["top.study.clk"].signal if level]
    assert len(rises) > 1000
    assert {time % PERIODS["clk_1"] for time in rises} == {0}
    sent = {time for time, _ in list(found["top.study.bench.gen_traffic[0].u_traffic.tx"].signal)[1:]}
    assert len(sent) > 100
    assert sent <= set(rises)


def variables(folder: Path) -> dict[str, pywellen.Var]:
    """Return every variable of the run's waves by its full name."""
    return {str(var.full_name): var for var in pywellen.Waveform(str(folder / waves.FILE)).all_vars()}
