"""NICs that execute C firmware in RTL: echo, alone and beside NICs that run the coroutine.

Strategy: the study of echo runs with `nic.firmware=c`. On both simulators, with gated clocks and with clocks always on,
results and traces must be equal; with C on one node only, messages must arrive too. Illegal operations, and functions
to stop at, end the run with an error that names them and the last instructions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firmware.images import image
from pymodels.errors import SanlabError
from pymodels.lanai.faults import MESSAGES, Fault
from pymodels.lanai.image import Image
from pymodels.lanai.stopped import LAST
from pymodels.trace import Part, TraceEvent, unit
from tb.report.lives import lives_of
from tb.report.recorded import LEGEND, read_legend, read_recorded
from tests.amount import EVERY_CASE
from tests.system.runs import Run, assert_equal, must, run

SHORT = "repetitions=1 nic.firmware=c"
GRIM = "repetitions=1 size=0 nic.firmware=python,c"


def assert_same(one: Run, other: Run) -> None:
    """Check that results, traces, packets and the clocks of each instruction are equal."""
    assert_equal(one, other)
    profiles = [(run.folder / "profile.json").read_text(encoding="utf-8") for run in (one, other)]
    assert profiles[0] == profiles[1]


@pytest.fixture(name="reference", scope="module")
def fixture_reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of C firmware on both nodes, on Verilator with gated clocks."""
    return must("echo_pingpong", "verilator", tmp_path_factory.mktemp("reference"), SHORT)


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_executed_firmware_gives_equal_results_and_traces(
    reference: Run, simulator: str, always_on: int, tmp_path: Path
) -> None:
    assert_same(reference, must("echo_pingpong", simulator, tmp_path, f"{SHORT} run.always_on={always_on}"))


@pytest.mark.parametrize(
    ("study", "settings", "profile", "cluster"),
    [
        ("grim_pingpong", "size=0 repetitions=4", "", ""),
        ("grim_pingpong", "size=4096 repetitions=1 sram.accesses=1", "", ""),
        ("grim_streaming", "messages=2", "", "eight_hosts"),
        ("echo_pingpong", "repetitions=4", "lanai4", ""),
        ("echo_pingpong", "repetitions=1 core.instructions=1", "", ""),
        ("silence", "silence_ms=1", "", ""),
    ],
)
def test_gated_polling_loop_resumes_at_the_same_instruction(
    study: str, settings: str, profile: str, cluster: str, tmp_path: Path
) -> None:
    """Messages arrive in any clock of a turn, and engines take the SRAM from the loop."""
    asleep, awake = (
        must(
            study, "verilator", tmp_path / str(on), f"nic.firmware=c {settings} run.always_on={on}", cluster, 1, profile
        )
        for on in (0, 1)
    )
    assert asleep.results.cost.cycles < awake.results.cost.cycles / 2
    assert_same(asleep, awake)


@pytest.mark.parametrize("profile", ["lanai9", "lanai4"])
def test_idle_polling_nics_need_no_clock_edges(profile: str, tmp_path: Path) -> None:
    edges = [
        must(
            "silence", "verilator", tmp_path / ms, f"nic.firmware=c silence_ms={ms}", profile=profile
        ).results.cost.cycles
        for ms in ("1", "20")
    ]
    assert edges[0] == edges[1]


def test_functions_are_in_the_trace_and_calls_begin_at_their_first_instruction(reference: Run) -> None:
    trace = reference.trace
    told = trace[trace["event"] == TraceEvent.FUNCTION]
    assert set(told["unit"]) == {unit(node, Part.NIC_CPU) for node in (0, 1)}
    first = told[told["unit"] == unit(0, Part.NIC_CPU)][0]
    assert (first["argument"], first["argument2"]) == (0, 1), "start, from its start"


@pytest.mark.parametrize("words", ["c,python", "python,c"])
def test_nics_in_c_and_in_python_exchange_messages(words: str, tmp_path: Path) -> None:
    mixed = must("echo_pingpong", "verilator", tmp_path, f"repetitions=2 nic.firmware={words}")
    executes = words.split(",").index("c")
    trace = mixed.trace
    assert set(trace["unit"][trace["event"] == TraceEvent.FUNCTION]) == {unit(executes, Part.NIC_CPU)}


@pytest.mark.parametrize("profile", ["lanai9", "lanai4"])
def test_c_and_python_take_about_the_same_time(profile: str, tmp_path: Path) -> None:
    """Compares averages, since a single round trip meets the polling loops in any phase."""
    in_c, python = (
        must("echo_pingpong", "verilator", tmp_path / word, f"repetitions=5 nic.firmware={word}", profile=profile)
        for word in ("c", "python")
    )
    for name, value in python.metrics.items():
        assert in_c.metrics[name] == pytest.approx(value, rel=0.1), name


def test_a_lanai4_executes_equally_on_both_simulators(tmp_path: Path) -> None:
    one, other = (
        must("echo_pingpong", simulator, tmp_path / simulator, SHORT, profile="lanai4")
        for simulator in ("verilator", "icarus")
    )
    assert_same(one, other)


@pytest.fixture(name="grim", scope="module")
def fixture_grim(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of GRIM with C firmware on the answering node; on Icarus in `make test-long` only (slow boot)."""
    return must("grim_pingpong", "verilator", tmp_path_factory.mktemp("grim"), GRIM)


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), *([("icarus", 0)] if EVERY_CASE else [])])
def test_grim_in_c_gives_equal_results_and_traces(grim: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    assert_same(grim, must("grim_pingpong", simulator, tmp_path, f"{GRIM} run.always_on={always_on}"))


@pytest.mark.parametrize(("words", "profile"), [("c", ""), ("python,c", ""), ("c", "lanai4")])
def test_grim_in_c_and_in_python_take_the_same_time_within_a_tenth(words: str, profile: str, tmp_path: Path) -> None:
    short = "repetitions=5 size=0"
    python = must("grim_pingpong", "verilator", tmp_path / "python", short, profile=profile)
    executed = must("grim_pingpong", "verilator", tmp_path / "c", f"{short} nic.firmware={words}", profile=profile)
    assert executed.metrics["one_way_us_0B"] == pytest.approx(python.metrics["one_way_us_0B"], rel=0.1)
    lives = lives_of(read_recorded(executed.folder)).lives
    assert lives and all(life.arrived for life in lives), "each message is followed to its handler"


def test_deadlock_cycle_includes_executing_nics(tmp_path: Path) -> None:
    metrics = must("grim_overflow", "verilator", tmp_path, "nic.firmware=c").metrics
    assert (metrics["deadlock_without"], metrics["units_in_the_cycle"]) == (1, 4)


@pytest.fixture(name="traced", scope="module")
def fixture_traced(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return such a run with each instruction and each inlined function in its trace."""
    asked = f"{SHORT} core.instructions=1 core.inline=1"
    return must("echo_pingpong", "verilator", tmp_path_factory.mktemp("traced"), asked)


def test_each_instruction_is_in_the_trace_on_demand(reference: Run, traced: Run) -> None:
    trace, code = traced.trace, (TraceEvent.INSTRUCTION, TraceEvent.FUNCTION)
    rest, without = (one[~np.isin(one["event"], code)] for one in (trace, reference.trace))
    assert np.array_equal(rest, without), "nothing else changes"
    one = trace[(trace["event"] == TraceEvent.INSTRUCTION) & (trace["unit"] == unit(0, Part.NIC_CPU))]
    assert list(one["argument"][:3]) == [0, 4, 0x40], "the program begins with a jump over the words of the host"


def test_each_change_of_an_inline_function_is_in_the_trace_on_demand(traced: Run) -> None:
    """At each instruction, the last traced function equals the function that the image gives for this address."""
    legend, program = read_legend(traced.folder / LEGEND), Image.load(image("echo", "lanai9")).program
    told = traced.trace[traced.trace["unit"] == unit(0, Part.NIC_CPU)]
    places, met = legend.function(0), set()
    for event, argument in zip(told["event"], told["argument"].tolist(), strict=True):
        if event == TraceEvent.FUNCTION:
            places = legend.function(argument)
        else:
            assert program.places(argument) == places, hex(argument)
            met.add(places[-1].function)
    assert {"start", "main", "look_slot", "send", "deliver"} <= met


def _stop_report(ended: Run) -> str:
    """Return the report of a processor core that stopped."""
    report = (ended.folder / "failures.txt").read_text(encoding="utf-8")
    return report[report.index("CoreError") :]


@pytest.mark.parametrize(
    ("fault", "simulator", "profile"),
    [
        (Fault.ILLEGAL, "verilator", ""),
        (Fault.ILLEGAL, "icarus", ""),
        (Fault.SHADOW, "verilator", "lanai4"),
        (Fault.SHADOW, "icarus", ""),
        (Fault.BEYOND, "verilator", ""),
        (Fault.BEYOND, "icarus", "lanai4"),
    ],
)
def test_undefined_instruction_ends_the_run_with_function_and_last_instructions(
    fault: Fault, simulator: str, profile: str, tmp_path: Path
) -> None:
    ended = run("damaged_code", simulator, tmp_path, f"nic.firmware=c fault={fault:d}", profile=profile)
    assert not ended.passed
    first, calls, registers, title, *last = _stop_report(ended).splitlines()[: 4 + LAST]
    assert "in main+" in first and f"on node 0: {MESSAGES[fault].what}: at " in first
    assert calls.startswith("  calls: ") and "main+" in calls and " <- start+" in calls
    assert "%sp 0x7ff" in registers and title == "  last instructions:"
    assert len(last) == LAST and all(" main+" in line for line in last)


def test_code_damaged_while_its_clock_is_gated_stops_at_the_same_time(tmp_path: Path) -> None:
    asleep, awake = (
        run("damaged_code", "verilator", tmp_path / str(on), f"nic.firmware=c run.always_on={on}") for on in (0, 1)
    )
    assert _stop_report(asleep) == _stop_report(awake)


def test_run_stops_at_a_function_with_registers_and_call_stack(tmp_path: Path) -> None:
    ended = run("echo_pingpong", "verilator", tmp_path, f"{SHORT} core.stop=main")
    assert not ended.passed
    report = _stop_report(ended)
    assert "in main on node 0: stopped" in report and "calls: main <- start+" in report and "%sp 0x7ffc" in report


def test_run_stops_in_an_inlined_function(tmp_path: Path) -> None:
    """Stop in a function that begins in the middle of another function and uses its stack frame."""
    ended = run("echo_pingpong", "verilator", tmp_path, f"{SHORT} core.stop=send")
    assert not ended.passed
    report = _stop_report(ended)
    assert "in send in main+" in report and "on node 0: stopped" in report
    assert "calls: send, inline at firmware/echo/nic/firmware.c:28 <- main+" in report and " <- start+" in report


@pytest.mark.parametrize(
    ("study", "settings", "profile", "error"),
    [
        ("echo_pingpong", "nic.firmware=d", "", "unknown word: nic.firmware has 'd'; known: c, python"),
        ("echo_pingpong", "nic.firmware=c,c,c", "", "nic.firmware has 3 words for 2 hosts; give one word for all"),
        ("switch_saturation", "nic.firmware=c", "", "this study starts no message layer"),
        ("grim_multicast", "nic.firmware=c", "", "GRIM's firmware in C does not support multicast"),
        (
            "grim_pingpong",
            "nic.firmware=c grim.queue_style=slotted",
            "",
            "option queue_style=slotted: GRIM's firmware in C",
        ),
        ("firmvia_latency", "nic.firmware=c", "", "layer 'via' has no firmware in C"),
        ("echo_pingpong", f"{SHORT} core.stop=mian", "", "core.stop is 'mian'; did you mean 'main'?"),
        ("echo_pingpong", f"{SHORT} core.stop=lay_uot", "", "core.stop is 'lay_uot'; did you mean 'lay_out'?"),
    ],
)
def test_unsupported_firmware_settings_are_rejected_before_the_build(
    study: str, settings: str, profile: str, error: str, tmp_path: Path
) -> None:
    with pytest.raises(SanlabError) as raised:
        run(study, "verilator", tmp_path, settings, profile=profile)
    assert error in str(raised.value)
