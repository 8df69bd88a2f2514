"""`python -m tb.run STUDY`: the command behind `make` and `make run`. Plans, builds, simulates, shows a table.

Exit codes: 0 all checks passed; 1 the study, an invariant or the simulation failed; 2 the input was refused before
anything was built. Errors go to stderr, one line each.
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from pymodels.errors import SanlabError
from pymodels.results import read_results
from tb.build.build import Build, build
from tb.build.top import cluster_design
from tb.plan import studies
from tb.plan.request import PUBLIC_EVAL, Plan, Request, plan, resolve
from tb.report import waves
from tb.report.looked import look
from tb.report.recorded import read_recorded
from tb.report.terminal import complain, say, summary
from tb.report.timeline import write_soon
from tb.report.window import add_window, window_ps
from tb.run.progress import show_progress
from tb.run.simulate import Outcome, simulate
from tb.run.studies_list import about
from tb.stuck.again import FOLDER as STUCK
from tb.stuck.again import waves_around
from tb.stuck.report import TEXT
from tb.tools import programs
from tb.tools.paths import OUT, SIMULATORS

MODULE = "tb.run.entry"
LEFT = (
    "results.json",
    "trace.npy",
    "legend.json",
    "failures.txt",
    "report.html",
    "received.bin",
    "program-*.txt",
    "timeline.json",
    "profile.json",
    "symbols.json",
    "packets.pcapng",
    "waves.gtkw",
    "waves.sucl",
    "stuck.txt",
    "stuck.json",
)
"""What a run leaves and the next one must not find; waves and log are the simulator's business."""


def execute(
    request: Request, info: studies.StudyInfo, understood: Plan, console: Console, made: Build | None = None
) -> Outcome:
    """Run one request on what was made for it (`built`). Progress goes to the console when it is a terminal.

    Raises ToolError when the design does not build.
    """
    folder = Path(request.folder)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_results(folder)
    shutil.rmtree(folder / STUCK, ignore_errors=True)
    made = made or built(request, info, understood, console)
    read, write = os.pipe()
    replace(request, progress_fd=write).save(folder / "request.json")
    watcher = threading.Thread(target=show_progress, args=(read, console), daemon=True)
    watcher.start()
    where = {"SANLAB_RUN": str(folder)}
    try:
        return simulate(
            made, MODULE, folder, request.seed, request.waves, where, pass_fds=(write,), window_ps=request.window_ps
        )
    except KeyboardInterrupt:  # the simulator was interrupted too, and may have left what it had
        _remove_results(folder)
        raise
    finally:
        os.close(write)
        watcher.join()


def _remove_results(folder: Path) -> None:
    for path in (path for pattern in LEFT for path in folder.glob(pattern)):
        path.unlink()


def built(request: Request, info: studies.StudyInfo, understood: Plan, console: Console) -> Build:
    """The build that a request runs on, made now if need be. Raises ToolError when the design does not build."""
    wanted = info.design or cluster_design(understood.cluster, understood.profile, understood.cores)
    if request.simulator == "verilator" and (other := programs.verilator().said_if_other):
        say(console, other)
    with console.status(f"building for {request.simulator} (once; cached by content)"):
        return build(wanted, request.simulator, request.waves, bool(understood.options[PUBLIC_EVAL]))


def run_study(request: Request, console: Console) -> int:
    """One run from request to table; the exit code. Raises SanlabError for what it refuses or cannot build."""
    info = studies.load(request.study)
    understood = plan(request, info)
    outcome = execute(request, info, understood, console)
    folder = Path(request.folder)
    if not (folder / "results.json").exists():
        for failure in outcome.failures:
            complain(failure)
        return 1
    results = read_results(folder / "results.json")
    failures = [line for line in (folder / "failures.txt").read_text().splitlines() if line]
    failures += lost_waves(request, folder)
    leave_views(request, folder, console)
    from tb.report.contents import write_contents  # slow to import, and only needed once there are results
    from tb.report.page import write_page

    network = None if info.design else understood.cluster.topology
    page = write_page(folder, info, results, failures, look(folder), network)
    if folder.parent == OUT:
        write_contents(OUT)
    summary(console, info, results, failures, page, folder)
    if outcome.passed and not failures:
        return 0
    if (folder / TEXT).exists():
        say(console, f"who waits for whom, and the last events of each unit: {os.path.relpath(folder / TEXT)}")
    if understood.options["run.stuck_waves"]:
        run_again(request, info, understood, console)
    return 1


def run_again(request: Request, info: studies.StudyInfo, understood: Plan, console: Console) -> None:
    """After a hang, a deadlock or a broken invariant: the same run once more, with waves of the time around it."""

    def again(second: Request) -> None:
        execute(second, info, understood, console)
        leave_views(second, Path(second.folder), console)

    waves_around(request, again, lambda text: say(console, text, "dim"))


def leave_views(request: Request, folder: Path, console: Console) -> None:
    """What is made of a run's trace and waves when it has ended: its timeline, and the views of its waves."""
    write_soon(folder, console)
    if request.waves and (folder / waves.FILE).exists():
        waves.write_views(folder, read_recorded(folder), request.window_ps)
        place = os.path.relpath(folder)
        text = f'waves: cd "{place}"; gtkwave {waves.FILE} {waves.GTKWAVE}; or: surfer {waves.FILE} -c {waves.SURFER}'
        console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


def lost_waves(request: Request, folder: Path) -> list[str]:
    """Why there are no waves though they are asked for: their writer says it, and leaves no file that is not whole."""
    file = folder / waves.FILE
    if not request.waves or file.exists():
        return []
    said = (folder / "sim.log").read_text(errors="replace").splitlines()
    return [next((line for line in said if line.startswith(f"{file}: ")), f"{file} was not written; see sim.log")]


def show_help(parser: argparse.ArgumentParser, study: str, settings: str, profile: str) -> int:
    """Print the usage and the settings of the study, if one is named; return 0. Raises ConfigError as `about` does."""
    text = list(about(study, settings, profile)) if study else []
    parser.print_usage() if study else parser.print_help()
    for line in text:
        print(line)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and run; the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab run",
        description="Run one study on a cluster in RTL.",
        epilog="`sanlab run STUDY --help` also lists the settings of that study",
        add_help=False,
    )
    parser.add_argument("study", nargs="?", default="", help="one of: " + ", ".join(studies.names()))
    parser.add_argument("-h", "--help", action="store_true", help="show this help, and the settings of the study")
    parser.add_argument("--sim", default="verilator")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cluster", default="")
    parser.add_argument("--profile", default="")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE ...")
    parser.add_argument("--waves", action="store_true")
    add_window(parser)
    parser.add_argument("--out", default="", help="folder for the results (default sim_build/<study>)")
    words = parser.parse_args(argv)
    if not words.study and not words.help:
        parser.error("the following arguments are required: study")
    try:
        if words.help:
            return show_help(parser, words.study, " ".join(words.settings), words.profile)
        info = studies.load(words.study)
        cluster = words.cluster or info.cluster or ""
        given = (words.waves, cluster, words.profile, " ".join(words.settings), SIMULATORS)
        request = resolve(words.study, words.sim, words.seed, *given)
        folder = Path(words.out).resolve() if words.out else OUT / words.study
        window = window_ps(words.begin, words.end)
        return run_study(replace(request, folder=str(folder), window_ps=window), Console(emoji=False))
    except SanlabError as error:
        complain(str(error))
        return error.exit_code
    except OSError as error:  # a disk that is full, a folder that may not be written
        complain(
            f"run not done: {error.filename or words.out or OUT}: {error.strerror}; free space or correct the rights"
        )
        return 1
    except KeyboardInterrupt:
        complain("interrupted; no results were left")
        return 130
