"""The Makefile: every target and variable has its line of help, and what is given reaches the programs unharmed.

Strategy: make runs in a checkout of its own with fake tools (tests/unit/sanlab/checkout.py); the fake Python notes its
arguments, which are compared word by word. Values with spaces, quotes, dollar signs and commands of shell and make
are given on the command line and by the environment. Nothing is built.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tb.tools.paths import ROOT
from tests.unit.sanlab.checkout import Checkout, environment_without_make, words

TEXT = (ROOT / "Makefile").read_text(encoding="utf-8")
WICKED = "a=$(shell touch pwned) b='\"$(touch pwned)`touch pwned`;touch pwned # c=$HOME $$ %s \\ end"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path)
    made.set_up()
    made.calls()
    return made


def test_help_lists_every_target_and_every_variable() -> None:
    shown = subprocess.run(
        ["make", "-s", "help"],
        cwd=ROOT,
        env=environment_without_make(),
        encoding="utf-8",
        capture_output=True,
        check=True,
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)", TEXT, re.MULTILINE)
    given = re.search(r"^GIVEN := (.*)", TEXT, re.MULTILINE)
    assert phony and given
    for target in phony[1].split():
        assert re.search(rf"^  {target} +\S", shown, re.MULTILINE), target
    for variable in given[1].split():
        assert re.search(rf"^  {variable}=", shown, re.MULTILINE), variable


@pytest.mark.parametrize(
    "target",
    [
        *("all", "setup", "test", "run", "studies", "sim", "lint", "synth", "pnr", "prove", "mutants", "waves"),
        *("timeline", "measure", "explain", "compare", "sweep", "fuzz", "campaign", "explore", "firmware", "costs"),
        *("figures", "bench", "counts", "cluster", "fidelity", "uncertainty", "mpi4py", "clean", "distclean", "check"),
        *("calibrate", "netlist", "equivalence", "test-long", "test-cluster"),
    ],
)
def test_every_target_can_be_shown_without_running(checkout: Checkout, target: str) -> None:
    ended = checkout.make("-n", target)
    assert ended.returncode == 0, ended.stderr
    assert checkout.calls() == []


TARGETS = re.search(r"^\.PHONY: (.*)", TEXT, re.MULTILINE)[1].split()  # type: ignore[index]
NOT_WRITTEN = {"GRIM_HOST", "PYTEST_ADDOPTS", "CI", "HYPOTHESIS", "COCOTB_TEST_FILTER"}
"""Variables that reach programs through the environment."""


def variables_of(target: str) -> set[str]:
    """Return the variables that the recipe of a target names, also through variables of the Makefile."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n|  .*\n)*)", TEXT, re.MULTILINE)
    assert recipe
    text = recipe[1]
    for name in ("study", "waves"):
        inside = re.search(rf"^{name} := (.*)", TEXT, re.MULTILINE)
        assert inside
        text = text.replace(f"$({name})", inside[1])
    if "$(simulator)" in text:
        text += "$$SIM"
    return set(re.findall(r"\$[$({]+([A-Z_]+)\b", text)) | set(re.findall(r",\$\(([A-Z_]+)\)", text))


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_accepts_the_variables_of_its_recipe_and_no_other(checkout: Checkout, target: str) -> None:
    uses = variables_of(target) - {"VENV", "PYTHON"}
    ended = checkout.make("-n", target, "SIZE=3")
    assert ended.returncode == 2 and f"SIZE: not a variable of `make {target}`; its variables: " in ended.stderr
    listed = set(re.search(r"its variables: (.*?)\.", ended.stderr)[1].split()) - {"none"}  # type: ignore[index]
    assert listed - NOT_WRITTEN == uses
    assert checkout.make("-n", target, *(f"{name}=1" for name in sorted(listed))).returncode == 0
    assert checkout.calls() == []


def test_variables_of_the_environment_are_not_rejected(checkout: Checkout) -> None:
    assert checkout.make("-n", "run", "SANLAB_OUT=elsewhere", STUDY="a", SIZE="3").returncode == 0


def test_the_main_job_is_the_default_and_runs_both_studies(checkout: Checkout) -> None:
    ended = checkout.make()
    assert ended.returncode == 0, ended.stderr
    studies = [words(line) for line in checkout.calls("<-m><tb.sanlab><run>")]
    assert [study[-1] for study in studies] == ["grim_pingpong", "grim_streaming"]
    assert "--sim=verilator" in studies[0]
    assert "--seed=1" in studies[0]


def test_the_second_study_runs_though_the_first_failed(checkout: Checkout) -> None:
    assert checkout.make(FAKE_STUDY_CODE="1").returncode == 2
    assert len(checkout.calls("<-m><tb.sanlab><run>")) == 2
    assert checkout.make(FAKE_STUDY_CODE="130").returncode == 2
    assert len(checkout.calls("<-m><tb.sanlab><run>")) == 1


def test_the_code_of_a_study_is_shown(checkout: Checkout) -> None:
    for code in ("1", "2"):
        ended = checkout.make("run", "STUDY=x", FAKE_STUDY_CODE=code)
        assert ended.returncode == 2
        assert ended.stderr.rstrip().endswith(f"Error {code}")


@pytest.mark.parametrize("way", ["command line", "environment"])
def test_values_reach_the_program_as_they_were_typed(checkout: Checkout, way: str) -> None:
    given = {
        "STUDY": "-x y",
        "SET": WICKED,
        "CLUSTER": "my clusters/$a (1).txt",
        "PROFILE": "a,b",
        "SEED": "7",
        "WAVES": "1",
        "FROM": "1.5",
        "TO": "a b",
    }
    if way == "command line":
        ended = checkout.make("run", *(f"{name}={value}" for name, value in given.items()))
    else:
        ended = checkout.make("run", **given)
    assert ended.returncode == 0, ended.stderr
    (call,) = checkout.calls("<-m><tb.sanlab><run>")
    assert words(call) == [
        "-m",
        "tb.sanlab",
        "run",
        "--sim=verilator",
        "--seed=7",
        f"--cluster={given['CLUSTER']}",
        "--profile=a,b",
        f"--set={WICKED}",
        "--waves",
        "--from=1.5",
        "--to=a b",
        "--",
        "-x y",
    ]
    assert not list(checkout.root.rglob("pwned"))


def test_waves_are_written_only_on_request(checkout: Checkout) -> None:
    checkout.make("run", "STUDY=x", "WAVES=0")
    assert "--waves" not in words(checkout.calls("<-m><tb.sanlab><run>")[0])


def test_a_window_of_waves_and_of_a_timeline_reaches_the_program(checkout: Checkout) -> None:
    checkout.make("waves", "STUDY=my study", "FROM=10", "TO=20")
    (call,) = checkout.calls("<-m><tb.sanlab><run>")
    assert words(call)[-5:] == ["--waves", "--from=10", "--to=20", "--", "my study"]
    checkout.make("timeline", "STUDY=my study", "FROM=10")
    assert [words(line) for line in checkout.calls("<-m><tb.sanlab><timeline>")] == [
        ["-m", "tb.sanlab", "timeline", "--from=10", "--to=", "--", "my study"]
    ]


def test_conditions_reach_measure_as_they_were_typed(checkout: Checkout) -> None:
    conditions = ("FROM=a.b rises", "TO=$x=1", "WITHIN=c != d", "EACH=e")
    assert checkout.make("measure", "STUDY=my file.vcd", *conditions).returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><measure>")
    assert words(call)[3:] == [
        "--from=a.b rises",
        "--to=$x=1",
        "--within=c != d",
        "--each=e",
        "--",
        "my file.vcd",
    ]


def test_two_results_reach_compare_as_they_were_typed(checkout: Checkout) -> None:
    assert checkout.make("compare", "A=my run", "B=$b", "THRESHOLD=2.5").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><compare>")
    assert words(call) == ["-m", "tb.sanlab", "compare", "--threshold=2.5", "--", "my run", "$b"]


def test_a_message_reaches_explain(checkout: Checkout) -> None:
    assert checkout.make("explain", "STUDY=x", "MESSAGE=a b").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><explain>")
    assert words(call)[-3:] == ["--message=a b", "--", "x"]


def test_cluster_and_profile_reach_the_tests_of_mpi4py(checkout: Checkout) -> None:
    assert checkout.make("mpi4py", "CLUSTER=a b", "PROFILE=sp").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><mpi4py>")
    assert words(call) == ["-m", "tb.sanlab", "mpi4py", "--cluster=a b", "--profile=sp"]


def test_a_layer_reaches_the_compiler_of_its_firmware(checkout: Checkout) -> None:
    assert checkout.make("firmware", "LAYER=a b").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><firmware>")
    assert words(call) == ["-m", "tb.sanlab", "firmware", "--", "a b"]


def test_a_layer_reaches_the_counter_of_its_paths_and_without_one_all_are_counted(checkout: Checkout) -> None:
    assert checkout.make("costs", "LAYER=a b").returncode == checkout.make("costs").returncode == 0
    one, every = checkout.calls("<-m><tb.sanlab><costs>")
    assert words(one) == ["-m", "tb.sanlab", "costs", "--", "a b"]
    assert words(every) == ["-m", "tb.sanlab", "costs", "--"]


def test_a_layer_and_its_configuration_reach_explore_as_typed(checkout: Checkout) -> None:
    assert checkout.make("explore", "LAYER=a b", "WORLD=$c", "MINUTES=2.5").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><explore>")
    assert words(call) == ["-m", "tb.sanlab", "explore", "--world=$c", "--minutes=2.5", "--", "a b"]
    assert checkout.make("explore", "LAYER=a", "TABLE=1").returncode == 0
    assert words(checkout.calls("<-m><tb.sanlab><explore>")[-1])[-3:] == ["--table", "--", "a"]


def test_figures_are_quick_only_on_request(checkout: Checkout) -> None:
    for quick, given in (("1", ["--quick"]), ("0", []), ("", [])):
        assert checkout.make("figures", f"QUICK={quick}").returncode == 0
        (call,) = checkout.calls("<-m><tb.sanlab><figures>")
        assert words(call)[3:] == ["--sim=verilator", *given]


def test_axes_reach_the_sweep_as_they_were_typed(checkout: Checkout) -> None:
    given = {
        "STUDY": "x",
        "AXES": "hosts=2,4 size=0:64:x2",
        "SCHEDULER": "tcp://a b:1",
        "WORKERS": "2",
        "PLOT": "$x",
    }
    assert checkout.make("sweep", *(f"{name}={value}" for name, value in given.items())).returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><sweep>")
    assert words(call)[-7:] == [
        "--axes=hosts=2,4 size=0:64:x2",
        "--scheduler=tcp://a b:1",
        "--workers=2",
        "--plot=$x",
        "--designs=",
        "--",
        "x",
    ]


def test_the_fuzz_gets_its_words_and_a_simulator_only_on_the_rtl(checkout: Checkout) -> None:
    assert checkout.make("fuzz", "LAYER=a $x", "SEEDS=1..2", "WORKERS=2").returncode == 0
    (call,) = checkout.calls("<-m><tb.sanlab><fuzz>")
    assert words(call)[3:] == [
        "--layer=a $x",
        "--seeds=1..2",
        "--on=",
        "--sim=verilator",
        "--firmware=",
        "--pauses=",
        "--profile=",
        "--monitors=",
        "--scheduler=",
        "--workers=2",
    ]
    shown = {on: checkout.make("-n", "fuzz", f"ON={on}").stdout for on in ("rtl", "machine")}
    assert "setup.sh compiler" in shown["rtl"]
    assert "setup.sh compiler" not in shown["machine"]


def test_a_bench_gets_its_filter_only_when_there_is_one(checkout: Checkout) -> None:
    python = checkout.root / ".venv" / "bin" / "python"
    python.write_text(
        '#!/bin/sh\nprintf \'%s\\n\' "$*" "filter ${COCOTB_TEST_FILTER-none}" >>"$FAKE_LOG"\n', encoding="utf-8"
    )
    checkout.make("sim", "BENCH=link port", "SIM=icarus")
    assert checkout.calls() == ["-m tb.sanlab sim --sim=icarus --seed=1 -- link port", "filter none"]
    checkout.make("sim", "BENCH=b", "COCOTB_TEST_FILTER=^a|b$(x)$")
    assert checkout.calls()[1] == "filter ^a|b$(x)$"


def test_programs_see_nothing_of_the_make_around_them(checkout: Checkout) -> None:
    python = checkout.root / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "${MAKEFLAGS-none} ${MFLAGS-none}" >>"$FAKE_LOG"\n', encoding="utf-8")
    checkout.make("-k", "run", "STUDY=x", "SET=a=b")
    assert checkout.calls() == ["none none"]


def test_tests_run_two_at_a_time_and_need_both_simulators(checkout: Checkout) -> None:
    checkout.make("test")
    assert checkout.calls() == ["<-m><pytest><-n><2><--dist><worksteal>"]
    (checkout.tools / "iverilog").unlink()
    assert checkout.make("test").returncode == 2
    assert checkout.calls() == []


def test_the_check_before_a_commit_needs_no_tool_of_the_system(checkout: Checkout) -> None:
    for name in ("g++", "iverilog", "tshark", "chromium", "clang-16"):
        (checkout.tools / name).unlink()
    assert checkout.make("check").returncode == 0
    lint, tests = checkout.calls()
    assert lint.startswith("<-m><tb.sanlab><lint><ruff><mypy>")
    assert tests == "<-m><pytest><-q><-n><2><--dist><worksteal><--quick><tests/unit>"


def test_the_long_tests_draw_new_examples_and_leave_no_case_out(checkout: Checkout) -> None:
    python = checkout.root / ".venv" / "bin" / "python"
    variables = "$HYPOTHESIS $SANLAB_EVERY_CASE $SANLAB_ALL_MUTANTS"
    python.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$* {variables}" >>"$FAKE_LOG"\n', encoding="utf-8")
    checkout.make("test-long")
    assert checkout.calls() == ["-m pytest -n 2 --dist worksteal explore 1 1"]


def test_clean_keeps_the_environment_and_distclean_takes_only_what_make_made(
    checkout: Checkout, tmp_path: Path
) -> None:
    for name in ("firmware", "pymodels", "tests", "sim_build/x", "tb/__pycache__"):
        (checkout.root / name).mkdir(parents=True)
    assert checkout.make("clean").returncode == 0
    assert not (checkout.root / "sim_build").exists()
    assert checkout.stamp.exists()
    foreign = tmp_path / "home"
    foreign.mkdir()
    assert checkout.make("distclean", f"VENV={foreign}").returncode == 0
    assert foreign.exists()
    assert checkout.make("distclean").returncode == 0
    assert not checkout.stamp.parent.exists()
    assert not (checkout.root / "tb" / "__pycache__").exists()
    assert (checkout.root / "tb" / "setup.sh").exists()


def test_continuous_integration_runs_the_tests_then_lint(checkout: Checkout) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "for target in $tests lint" in script and "export CI=true" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
