"""`make bench`: the laboratory's own speed, in reproducible figures.

Each figure is the median over runs of the same request. Ratios come from alternating runs, so that noise affects both
sides alike. Where Callgrind is installed, the instructions of a message (`make counts`) are measured too. Results go to
sim_build/bench/results.json and to the terminal; a missed target does not affect the exit code.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from pymodels.errors import SanlabError
from pymodels.numerals import argument, real
from pymodels.results import Results, read_results, write_atomically
from tb.bench import counts, page
from tb.bench.cpp import switch_chars_per_s
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.report.terminal import complain
from tb.run.command import execute
from tb.tools.paths import OUT, SIMULATORS

FOLDER = OUT / "bench"
CALLS = Path(__file__).with_name("calls.c")


@dataclass(frozen=True)
class Figure:
    """Measured figure with its target (None: none), and True in `at_least` if more is better."""

    value: float
    asked: float | None = None
    at_least: bool = True

    @property
    def met(self) -> bool | None:
        """True if the target is reached, None without a target."""
        if self.asked is None:
            return None
        return self.value >= self.asked if self.at_least else self.value <= self.asked


class Wanted(NamedTuple):
    """Run to measure, in the words of `make run`."""

    study: str
    settings: str = ""
    cluster: str = ""
    waves: bool = False


class Runner:
    """Runner of studies that returns their results."""

    def __init__(self, console: Console, repeats: int) -> None:
        self.console = console
        self.repeats = repeats

    def once(self, wanted: Wanted) -> Results:
        """Run a study once. Raises SanlabError if it fails: the speed of a wrong result has no meaning."""
        study, settings, cluster, waves = wanted
        info = studies.load(study)
        request = resolve(study, "verilator", "1", waves, cluster or info.cluster or "", "", settings, SIMULATORS)
        folder = FOLDER / study
        outcome = execute(
            Request(**{**request.__dict__, "folder": str(folder)}), info, plan(request, info), self.console
        )
        if not outcome.passed:
            raise SanlabError(f"benchmark {study} failed", "; ".join(outcome.failures)[:2000], f"see {outcome.log}")
        return read_results(folder / "results.json")

    def alternate(self, runs: Mapping[str, Wanted]) -> dict[str, list[Results]]:
        """Run several requests alternately, `repeats` times each; return their results by name."""
        found: dict[str, list[Results]] = {name: [] for name in runs}
        for _ in range(self.repeats):
            for name, wanted in runs.items():
                found[name].append(self.once(wanted))
        return found


def _rate(results: list[Results]) -> float:
    return statistics.median(r.cost.messages / r.wall_s for r in results)


def _wall(results: list[Results]) -> float:
    return statistics.median(r.wall_s for r in results)


def measure(runner: Runner, scale: float) -> dict[str, Figure]:
    """Measure all figures; `scale` shortens every run."""
    figures: dict[str, Figure] = {}
    rounds = max(20, int(1000 * scale))
    null = f"repetitions={rounds} largest=0"
    runs = runner.alternate(
        {
            "asleep": Wanted("grim_pingpong", null),
            "always_on": Wanted("grim_pingpong", f"{null} run.always_on=1"),
            "no_trace": Wanted("grim_pingpong", f"{null} run.trace=0"),
        }
    )
    asleep = runs["asleep"]
    figures["pingpong_messages_per_wall_s"] = Figure(_rate(asleep), 2000)
    figures["pingpong_python_wakes_per_message"] = Figure(
        asleep[0].cost.python_wakes / asleep[0].cost.messages, 40, at_least=False
    )
    python_us = statistics.median(r.cost.wall_python_s / r.cost.messages * 1e6 for r in asleep)
    figures["pingpong_python_us_per_message"] = Figure(python_us, 150, at_least=False)
    figures["python_share"] = Figure(statistics.median(r.cost.wall_python_s / r.wall_s for r in asleep))
    figures["sleep_speedup"] = Figure(_wall(runs["always_on"]) / _wall(asleep), 2)
    figures["trace_overhead"] = Figure(_wall(asleep) / _wall(runs["no_trace"]) - 1, 0.10, at_least=False)
    streaming = f"size=64 messages={max(80, int(8000 * scale))}"
    bulk = f"size=65536 messages={max(4, int(60 * scale))}"
    runs = runner.alternate(
        {
            "streaming": Wanted("grim_streaming", streaming, "eight_hosts"),
            "bulk": Wanted("grim_streaming", bulk, "two_hosts"),
        }
    )
    figures["streaming_messages_per_wall_s"] = Figure(_rate(runs["streaming"]), 5000)
    figures["bulk_MB_per_wall_s"] = Figure(_rate(runs["bulk"]) * 65536 / 1e6, 0.8)
    silence = [runner.once(Wanted("silence")).metrics["wall_ms_per_sim_s"] for _ in range(runner.repeats)]
    figures["idle_wall_ms_per_sim_s"] = Figure(statistics.median(silence), 10, at_least=False)
    _short(runner, scale, figures)
    _least(runner, scale, figures)
    _polling(runner, figures)
    _waves(runner, scale, figures)
    _switch(runner, scale, figures)
    _programs(runner, scale, figures)
    return figures


def _short(runner: Runner, scale: float, figures: dict[str, Figure]) -> None:
    """Measure short messages of AM and AM-II against GRIM's, between 2 hosts and with 8 hosts all sending."""
    rounds, each = max(20, int(1000 * scale)), max(10, int(500 * scale))
    pingpong, streaming = f"repetitions={rounds} messages=0", f"repetitions=0 messages={each}"
    runs = runner.alternate(
        {
            "am_pingpong": Wanted("am_short", pingpong, "two_hosts"),
            "am2_pingpong": Wanted("am2_short", pingpong, "two_hosts"),
            "grim_pingpong": Wanted("grim_pingpong", f"repetitions={rounds} largest=0", "two_hosts"),
            "am_streaming": Wanted("am_short", streaming, "eight_hosts"),
            "am2_streaming": Wanted("am2_short", streaming, "eight_hosts"),
            "grim_streaming": Wanted("grim_streaming", f"size=0 messages={8 * each}", "eight_hosts"),
        }
    )
    for name in ("am_pingpong", "am_streaming", "am2_pingpong", "am2_streaming"):
        rate, kind = _rate(runs[name]), name.partition("_")[2]
        figures[f"{name}_messages_per_wall_s"] = Figure(rate)
        figures[f"{name}_vs_grim"] = Figure(rate / _rate(runs[f"grim_{kind}"]), 1)


def _least(runner: Runner, scale: float, figures: dict[str, Figure]) -> None:
    """Measure messages of bare EPOS against those of `echo`, between 2 hosts."""
    sizes, rounds = 6, max(18, int(1000 * scale))
    runs = runner.alternate(
        {
            "bare": Wanted("epos_compose", f"repetitions={rounds} size=16", "two_hosts"),
            "smallest": Wanted("echo_pingpong", f"repetitions={rounds // sizes}", "two_hosts"),
        }
    )
    figures["epos_pingpong_messages_per_wall_s"] = Figure(_rate(runs["bare"]))
    figures["epos_pingpong_vs_echo"] = Figure(_rate(runs["bare"]) / _rate(runs["smallest"]), 1)


def _polling(runner: Runner, figures: dict[str, Figure]) -> None:
    """Measure a millisecond of idle polling of a card word against one of a host memory word."""
    runs = [runner.once(Wanted("host_polling")).metrics for _ in range(runner.repeats)]
    ratio = statistics.median(run["wall_card_us_per_ms"] / run["wall_memory_us_per_ms"] for run in runs)
    figures["card_poll_vs_memory_poll"] = Figure(ratio, 2, at_least=False)


def _waves(runner: Runner, scale: float, figures: dict[str, Figure]) -> None:
    """Measure the ping-pong with waves against the one without."""
    settings = f"repetitions={max(1, int(10 * scale))}"
    plain, waves = Wanted("grim_pingpong", settings), Wanted("grim_pingpong", settings, waves=True)
    runs = runner.alternate({"plain": plain, "waves": waves})
    figures["waves_slowdown"] = Figure(_wall(runs["waves"]) / _wall(runs["plain"]), 3, at_least=False)


def _switch(runner: Runner, scale: float, figures: dict[str, Figure]) -> None:
    """Measure the saturated crossbar under cocotb against plain C++."""
    clocks = max(20_000, int(2_000_000 * scale))
    cocotb, cpp = [], []
    for _ in range(runner.repeats):
        saturated = runner.once(Wanted("switch_saturation", f"clocks={clocks} points=2 length=64"))
        cocotb.append(saturated.metrics["wall_chars_per_s"])
        cpp.append(switch_chars_per_s(clocks))
    figures["switch_chars_per_wall_s"] = Figure(statistics.median(cocotb), 10e6)
    figures["switch_vs_cpp"] = Figure(statistics.median(cocotb) / statistics.median(cpp), 0.9)


def _programs(runner: Runner, scale: float, figures: dict[str, Figure]) -> None:
    """Measure programs of the host machine: a long run minus a short one, which excludes their start."""
    few, rounds, calls = 100, max(200, int(5000 * scale)), max(2000, int(50_000 * scale))
    ping = f'command="{sys.executable} -m mpi4py.bench pingpong -s 1 -m 1 -n 1 -l {{}}"'
    call = f'command="{CALLS} {{}}" ranks=1'
    kinds = {"ping": (ping, rounds), "call": (call, calls)}
    runs = runner.alternate(
        {
            f"{name} {size}": Wanted("program", words.format(size), "two_hosts")
            for name, (words, many) in kinds.items()
            for size in (few, many)
        }
    )
    sent = runs[f"ping {rounds}"][0].cost.messages - runs[f"ping {few}"][0].cost.messages
    took = {name: _wall(runs[f"{name} {many}"]) - _wall(runs[f"{name} {few}"]) for name, (_, many) in kinds.items()}
    figures["program_messages_per_wall_s"] = Figure(sent / took["ping"], 1500)
    figures["program_us_per_call"] = Figure(took["call"] / (calls - few) * 1e6, 100, at_least=False)


def _show(console: Console, figures: dict[str, Figure]) -> None:
    table = Table("figure", "value", "target", "reached", box=None, pad_edge=False)
    for name, figure in figures.items():
        asked = "" if figure.asked is None else f"{'>=' if figure.at_least else '<='} {figure.asked:,g}"
        table.add_row(
            name,
            f"{figure.value:,.4g}" if figure.value < 1000 else f"{figure.value:,.0f}",
            asked,
            {None: "", True: "yes", False: "no"}[figure.met],
        )
    console.print(table)


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write sim_build/bench/results.json."""
    parser = argparse.ArgumentParser(prog="sanlab bench", description=__doc__)
    parser.add_argument("--repeats", type=argument(1, 1000), default=3)
    parser.add_argument(
        "--scale", type=argument(1e-6, 1e6, real), default=1.0, help="length of the runs (1 = as in the page)"
    )
    parser.add_argument("--write", action="store_true", help="write the figures to the page; needs an idle machine")
    words = parser.parse_args(argv)
    console = Console(emoji=False)
    try:
        if words.write:
            page.check_quiet()
        figures = measure(Runner(console, words.repeats), words.scale)
        counted = counts.all_counts() if shutil.which(counts.VALGRIND) else {}
    except SanlabError as error:
        complain(str(error))
        return error.exit_code
    machine = {
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }
    plain: dict[str, Any] = {"schema": 1, "machine": machine, "repeats": words.repeats, "scale": words.scale}
    plain["figures"] = {
        name: {"value": f.value, "asked": f.asked, "at_least": f.at_least, "met": f.met} for name, f in figures.items()
    }
    left = {**plain, "instructions_per_message": counted}
    write_atomically(FOLDER / "results.json", json.dumps(left, indent=1) + "\n")
    if words.write:
        page.write_record(plain, json.loads(counts.COMMITTED.read_text(encoding="utf-8")))
    _show(console, figures)
    if counted:
        counts.show(console, counted)
    console.print(f"written: {os.path.relpath(FOLDER / 'results.json', Path.cwd())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
