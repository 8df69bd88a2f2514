"""Command of `make` and `make run` (`python -m tb.run STUDY`): plan, build, simulate, and show a table.

Exit codes: 0 all checks passed; 1 the study, an invariant or the simulation failed; 2 invalid input. Errors go to
stderr, one line each.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from pymodels.errors import SanlabError, shown
from pymodels.results import read_results, write_atomically
from tb.build.build import Build, build
from tb.build.store import damage, remove_damaged
from tb.build.top import cluster_design
from tb.plan import studies
from tb.plan.declared import StudyError
from tb.plan.on_board import on_board
from tb.plan.request import PUBLIC_EVAL, Plan, Request, plan, resolve
from tb.report import waves
from tb.report.analysis import analyse
from tb.report.executed import short
from tb.report.junit import FILE as CASES
from tb.report.junit import RUN, UNFINISHED, Case, add_failure, set_error, write_cases
from tb.report.recorded import read_recorded
from tb.report.terminal import complain, exit_code, say, status, summary
from tb.report.timeline import write_soon
from tb.report.window import add_window, window_ps
from tb.run.on_board import asked, run_on_board
from tb.run.progress import show_progress
from tb.run.simulate import Outcome, simulate
from tb.run.studies_list import about
from tb.stuck.again import waves_around
from tb.stuck.report import TEXT
from tb.tools import programs
from tb.tools.paths import OUT, SIMULATORS
from tb.tools.workplace import COMMITTED, publish, publish_alone, workplace

MODULE = "tb.run.entry"
FAILURES = "failures.txt"
OF_COCOTB = "cocotb.xml"
"""Result file of cocotb, with one test case for the whole run; the run writes a `results.xml` of its own."""
LEFT = (
    "results.json",
    "trace.npy",
    "legend.json",
    FAILURES,
    "report.html",
    "received.bin",
    "program-*.txt",
    "timeline.json",
    "profile.json",
    "symbols.json",
    "packets.pcapng",
    "dissector.lua",
    "transactions.parquet",
    "waves.fst",
    "waves.gtkw",
    "waves.sucl",
    "measure.html",
    "measure.parquet",
    "stuck",
    "stuck.txt",
    "stuck.json",
    "sim.log",
    CASES,
    "request.json",
)
"""Names of the files and folders that runs create. Foreign files of these names are never overwritten."""
Finish = Callable[[Request, Outcome], None]
"""Function that adds files to the folder of a run before they are published."""


def execute(
    request: Request,
    info: studies.StudyInfo,
    understood: Plan,
    console: Console,
    made: Build | None = None,
    finish: Finish | None = None,
) -> Outcome:
    """Run one request and publish its files in `request.folder`, where they replace those of an earlier run.

    An interrupted run leaves no file but `results.xml`, which reports what it waited for.

    Args:
        request: Request of the run.
        info: Study.
        understood: Plan of the request.
        console: Console; progress is shown if it is a terminal.
        made: Build for the request (`built`).
        finish: Function called before the files are published.

    Raises:
        ToolError: The design does not build; `failures.txt` has the reason.
    """
    folder = Path(request.folder)
    if on_board(request.settings):
        request = asked(request, understood)
        understood = plan(request, info)
    with workplace(folder, LEFT) as work:
        own = replace(request, folder=str(work))
        try:
            begun = Case(RUN, failures=("the run had not reached the study",), error=UNFINISHED)
            write_cases(work / CASES, request.study, [begun], durable=False)
            outcome = _simulated(own, info, understood, console, made)
            if not (work / FAILURES).exists() and outcome.failures:
                write_failures(work, outcome.failures)
            if not outcome.passed:
                set_error(work / CASES, request.study, "SimulatorError", "; ".join(outcome.failures))
            if finish is not None:
                finish(own, outcome)
            request.save(work / "request.json")
        except (SanlabError, OSError) as error:
            with suppress(SanlabError, OSError):
                _publish_failure(folder, work, request.study, error)
            raise
        except KeyboardInterrupt:
            with suppress(SanlabError, OSError):
                set_error(work / CASES, request.study, "KeyboardInterrupt", "the run was interrupted")
                publish_alone(work, folder, CASES)
            raise
        published(work, folder)
    failures = [final(line, work, folder) for line in outcome.failures]
    return replace(outcome, failures=failures, log=folder / outcome.log.name)


def published(work: Path, folder: Path) -> None:
    """Publish a run and replace its working folder in failures by the final folder."""
    for file in (work / FAILURES, work / CASES):
        if file.exists() and str(work) in (text := file.read_text(encoding="utf-8")):
            write_atomically(file, final(text, work, folder))
    publish(work, folder)


def final(text: str, work: Path, folder: Path) -> str:
    """Return a text with the working folder replaced by the final folder."""
    return text.replace(str(work), str(folder))


def write_failures(folder: Path, failures: Sequence[str]) -> None:
    """Write `failures.txt`, one line a failure."""
    write_atomically(folder / FAILURES, "".join(f"{line}\n" for line in failures))


@contextmanager
def failures_recorded(folder: Path, study: str) -> Iterator[None]:
    """Write the reason to `folder` if a study cannot be loaded, and update the list of runs (`index.html`)."""
    try:
        yield
    except StudyError as error:
        with suppress(SanlabError, OSError), workplace(folder, LEFT) as work:
            _publish_failure(folder, work, study, error)
        raise
    finally:
        if folder.parent == OUT and (folder / FAILURES).exists():
            from tb.report.contents import write_contents  # slow to import

            write_contents(OUT)


def _publish_failure(folder: Path, work: Path, study: str, error: Exception) -> None:
    (work / COMMITTED).unlink(missing_ok=True)
    text = shown(final(str(error), work, folder))
    write_failures(work, [text])
    set_error(work / CASES, study, type(error).__name__, text)
    publish(work, folder)


def _simulated(
    request: Request, info: studies.StudyInfo, understood: Plan, console: Console, made: Build | None
) -> Outcome:
    folder = Path(request.folder)
    if not on_board(request.settings):
        made = made or built(request, info, understood, console)
    read, write = os.pipe()
    ended = threading.Event()
    watcher = threading.Thread(target=show_progress, args=(read, console, ended), daemon=True)
    try:
        replace(request, progress_fd=write).save(folder / "request.json")
        watcher.start()
        where = {"SANLAB_RUN": str(folder)}
        study = Path(info.module.__file__ or "").parent

        if made is None:
            return run_on_board(request, folder, (write,))

        def once(made: Build) -> Outcome:
            what = made, MODULE, folder, request.seed, request.waves, where
            try:
                return simulate(*what, pass_fds=(write,), window_ps=request.window_ps, study=study, results=OF_COCOTB)
            finally:
                (folder / OF_COCOTB).unlink(missing_ok=True)

        outcome = once(made)
        if not outcome.tests and (hurt := damage(made.folder, hashes=True)):
            say(console, f"the build was damaged ({hurt}); building and running again", "yellow")
            remove_damaged(made.folder)
            outcome = once(built(request, info, understood, console))
        return outcome
    finally:
        os.close(write)
        ended.set()
        if watcher.ident is None:
            os.close(read)
        else:
            watcher.join()


def built(request: Request, info: studies.StudyInfo, understood: Plan, console: Console) -> Build:
    """Return the build of a request, made now if necessary. Raises ToolError if the design does not build."""
    wanted = info.design or cluster_design(
        understood.cluster, understood.profile, understood.cores, understood.monitored
    )
    if request.simulator == "verilator" and (other := programs.verilator().said_if_other):
        say(console, other)
    with status(console, f"building for {request.simulator} (once; cached by content)"):
        return build(wanted, request.simulator, request.waves, bool(understood.options[PUBLIC_EVAL]))


def run_study(request: Request, console: Console) -> int:
    """Run a request and show its results; return the exit code. Raises SanlabError for invalid input or a
    failed build.
    """
    folder = Path(request.folder)
    with failures_recorded(folder, request.study):
        return _run_study(request, folder, console)


def _run_study(request: Request, folder: Path, console: Console) -> int:
    info = studies.load(request.study)
    understood = plan(request, info)
    kept: dict[str, Any] = {}  # results of this run, even if another run is published meanwhile

    def finish(own: Request, outcome: Outcome) -> None:
        work = Path(own.folder)
        if not (work / COMMITTED).exists():
            return
        results = read_results(work / COMMITTED)
        failures = [line for line in (work / FAILURES).read_text(encoding="utf-8").splitlines() if line]
        for line in lost_waves(own, work):
            failures.append(line)
            add_failure(work / CASES, "waves", line)
        write_failures(work, failures)
        leave_views(own, work, console, folder)
        from tb.report.page import write_page  # slow to import, and only needed once there are results

        network = None if info.design else understood.cluster.topology
        write_page(work, info, results, [final(line, work, folder) for line in failures], analyse(work), network)
        again = understood.options["run.stuck_waves"] and not on_board(own.settings)
        if again and (failures or not outcome.passed):
            with suppress(KeyboardInterrupt):  # the run itself has ended
                run_again(own, info, understood, console, folder)
        told = [final(line, work, folder) for line in failures]
        kept.update(results=results, failures=told, tables=tuple(short(work)), stuck=(work / TEXT).exists())

    outcome = execute(request, info, understood, console, finish=finish)
    if not kept:
        for failure in outcome.failures:
            complain(failure)
        return 1
    summary(console, info, kept["results"], kept["failures"], folder / "report.html", folder, kept["tables"])
    if outcome.passed and not kept["failures"]:
        return 0
    if kept["stuck"]:
        say(console, f"report of waits and last events of each unit: {os.path.relpath(folder / TEXT)}")
    return 1


def run_again(request: Request, info: studies.StudyInfo, understood: Plan, console: Console, folder: Path) -> None:
    """Repeat a run after a hang, deadlock or broken invariant, with waves of the time around it.

    `folder` is the folder in which the first run is published.
    """

    def again(second: Request) -> None:
        execute(second, info, understood, console)
        work = Path(second.folder)
        leave_views(second, work, console, folder / work.name)

    waves_around(request, again, lambda text: say(console, text, "dim"))


def leave_views(request: Request, folder: Path, console: Console, published_as: Path | None = None) -> None:
    """Write the timeline of a completed run and the views of its waves.

    `published_as` is the folder in which the files will be published, if different.
    """
    write_soon(folder, console, request.study)
    if request.waves and (folder / waves.FILE).exists():
        waves.write_views(folder, read_recorded(folder), request.window_ps)
        place = os.path.relpath(published_as or folder)
        text = f'waves: cd "{place}"; gtkwave {waves.FILE} {waves.GTKWAVE}; or: surfer {waves.FILE} -c {waves.SURFER}'
        console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


def lost_waves(request: Request, folder: Path) -> list[str]:
    """Return the reason for missing waves, from the log of their writer, which leaves no incomplete file."""
    file = folder / waves.FILE
    if not request.waves or file.exists():
        return []
    said = (folder / "sim.log").read_text(errors="replace", encoding="utf-8").splitlines()
    return [next((line for line in said if line.startswith(f"{file}: ")), f"{file} was not written; see sim.log")]


def show_help(parser: argparse.ArgumentParser, study: str, settings: str, profile: str) -> int:
    """Print the usage, and the settings of the study if given; return 0. Raises ConfigError as `about` does."""
    text = list(about(study, settings, profile)) if study else []
    parser.print_usage() if study else parser.print_help()
    for line in text:
        print(line)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, run the study, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab run",
        description="Run one study on a cluster in RTL.",
        epilog="`sanlab run STUDY --help` also lists the settings of that study",
        add_help=False,
    )
    parser.add_argument("study", nargs="?", default="", help="one of: " + studies.known())
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
    return exit_code(lambda: _command(parser, words), "this run left no results", "run")


def _command(parser: argparse.ArgumentParser, words: argparse.Namespace) -> int:
    if words.help:
        return show_help(parser, words.study, " ".join(words.settings), words.profile)
    folder = results_folder(words.study, words.out)
    with failures_recorded(folder, words.study):
        info = studies.load(words.study)
        cluster = words.cluster or info.cluster or ""
        given = (words.waves, cluster, words.profile, " ".join(words.settings), SIMULATORS)
        request = resolve(words.study, words.sim, words.seed, *given)
        window = window_ps(words.begin, words.end)
        return run_study(replace(request, folder=str(folder), window_ps=window), Console(emoji=False))


def results_folder(study: str, out: str) -> Path:
    """Return the folder for a study's results: `out` if given."""
    return Path(out).resolve() if out else OUT / study.replace("/", "_")
