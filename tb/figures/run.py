"""`make figures` (`python -m tb.figures.run [--quick] [--only="study ..."]`): run every study, and write one page.

Runs with results from the same sources and settings are not repeated, so an interrupted command can continue. The exit
code is 1 if a run failed; the page is written anyway and shows the failure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pymodels.published import load_published
from pymodels.results import Results, ResultsError, read_results, write_atomically
from tb.figures import quick
from tb.figures.gallery import INDEX, Entry, write_gallery
from tb.figures.jobs import KEY, Job, jobs
from tb.plan import studies
from tb.report.tables import Table
from tb.report.terminal import exit_code, is_live, say, show
from tb.run.simulate import how_it_ended
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, ROOT
from tb.tools.workplace import COMMITTED as RESULTS
from tb.tools.workplace import adding, written

AT_A_TIME = 2
REFRESH_S = 5
"""Seconds between updates of the page while studies run."""


@dataclass(frozen=True)
class Ended:
    """Outcome of a run."""

    job: Job
    results: Results | None
    failures: tuple[str, ...]
    seconds: float
    known: bool = False
    """True if the results are those of an earlier run."""


@dataclass
class Runner:
    """Runner of jobs as separate processes, all of which `stop` ends."""

    _running: set[subprocess.Popen[str]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: bool = False

    def run(self, job: Job) -> Ended:
        """Run one job, unless its folder has its results already."""
        begun, folder = time.monotonic(), Path(job.request.folder)
        if job.done:
            return _ended(job, folder, "", 0.0, known=True)
        earlier = written(folder / RESULTS)
        command = [sys.executable, "-m", "tb.run", *job.words()]
        with self._lock:
            if self._over:
                return Ended(job, None, ("not run",), 0.0)
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
            self._running.add(process)
        said = process.communicate()[1]
        with self._lock:
            self._running.discard(process)
        seconds = time.monotonic() - begun
        if written(folder / RESULTS) in (earlier, None):  # results of an earlier run do not count
            return Ended(job, None, _lines(said) or (f"the process was {how_it_ended(process.returncode)}",), seconds)
        ended = _ended(job, folder, said, seconds)
        if process.returncode == 0:
            with adding(folder, KEY):
                write_atomically(folder / KEY, f"{job.key}\n")
        return ended

    def stop(self) -> None:
        """End all processes and start no more. Uses SIGTERM, since background processes of a shell ignore SIGINT."""
        with self._lock:
            self._over = True
            for process in self._running:
                process.terminate()


def _ended(job: Job, folder: Path, said: str, seconds: float, known: bool = False) -> Ended:
    """Return the outcome of a run from its folder: results and failures."""
    failed = folder / "failures.txt"
    failures = tuple(filter(None, failed.read_text(encoding="utf-8").splitlines())) if failed.is_file() else ()
    try:
        return Ended(job, read_results(folder / RESULTS), failures, seconds, known)
    except ResultsError as error:
        return Ended(job, None, _lines(said) or (str(error),), seconds, known)


def _lines(said: str) -> tuple[str, ...]:
    return tuple(filter(None, said.splitlines()))


@contextmanager
def _stopped(runner: Runner) -> Iterator[None]:
    try:
        yield
    except BaseException:
        runner.stop()
        raise


def run_all(todo: Sequence[Job], console: Console, shown: Callable[[Sequence[Ended]], object]) -> list[Ended]:
    """Run jobs, two at a time, with a progress bar on a terminal; return their outcomes in the order of `todo`.

    `shown` is called with the outcomes so far, at the beginning and every few seconds.
    """
    runner = Runner()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, transient=True, disable=not is_live(console)) as bar,
        ThreadPoolExecutor(AT_A_TIME) as pool,
        _stopped(runner),
    ):
        task = bar.add_task("figures", total=len(todo))
        futures = [pool.submit(runner.run, job) for job in todo]
        shown([])
        last, over = time.monotonic(), set()
        for future in as_completed(futures):
            over.add(future)
            bar.update(task, advance=1, description=future.result().job.name)
            if time.monotonic() - last >= REFRESH_S:
                shown([one.result() for one in futures if one in over])
                last = time.monotonic()
    return [future.result() for future in futures]


def write_figures(done: Sequence[Ended], folder: Path, quick: bool, total: int, running: bool = False) -> Path:
    """Write the page of the runs so far and return its path. Browsers reload the page while runs are left."""
    entries = [Entry(one.job, one.results, one.failures) for one in done]
    note = "quick settings: fewer repetitions and smaller sizes" if quick else "the studies' own settings"
    state = "running" if running else "interrupted"
    text = f"{note} · {state}: {len(done)} of {total} runs have ended" if len(done) < total else note
    return write_gallery(folder, text, entries, REFRESH_S if running else 0)


def leave(done: Sequence[Ended], folder: Path, quick: bool, console: Console, seconds: float) -> int:
    """Write the page, print the outcomes, and return the exit code."""
    page = write_figures(done, folder, quick, len(done))
    rows = tuple(
        (one.job.name, "failed" if one.failures else "known" if one.known else "passed", f"{one.seconds:.1f}")
        for one in done
    )
    show(console, Table(("study", "", "s"), rows, words=2))
    for one in done:
        for line in one.failures:
            say(console, f"failed: {one.job.name}: {line}", "bold red")
    say(console, f"{len(done)} runs, {seconds:.1f} s", "dim")
    say(console, f"figures: {os.path.relpath(page)}")
    return 1 if any(one.failures for one in done) else 0


def loadable(console: Console) -> Iterator[str]:
    """Yield the studies that can be loaded, and print the reason for each other study."""
    for name in studies.names():
        if reason := studies.fault(name):
            say(console, f"not run: {name}: {reason}", "bold red")
        else:
            yield name


def compare_with_record(done: Sequence[Ended], console: Console) -> None:
    """Print the quick runs whose results differ from the committed record."""
    if not quick.FILE.exists():
        return
    record = quick.load_quick()
    moved = quick.differing(digests(done), record)
    text = f"results differ from those of commit {record.commit[:8]}: {', '.join(moved)}"
    say(console, text if moved else f"results equal those of commit {record.commit[:8]}", "yellow" if moved else "dim")


def digests(done: Sequence[Ended]) -> dict[str, str]:
    """Return the digests of all runs with results, by name."""
    return {one.job.name: quick.digest(one.results) for one in done if one.results is not None}


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, run all studies, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab figures", description="Run every study and write all figures and tables on one page."
    )
    parser.add_argument("--quick", action="store_true", help="use the quick settings of each study")
    parser.add_argument("--sim", default="verilator")
    parser.add_argument("--out", default="", help="folder (default sim_build/figures, sim_build/figures-quick)")
    parser.add_argument("--only", default="", help="run only these studies, separated by spaces")
    parser.add_argument(
        "--record", action="store_true", help="with --quick: write digests of the results to quick.json"
    )
    words = parser.parse_args(argv)
    if words.record and (not words.quick or words.only):
        parser.error("--record needs --quick and excludes --only")
    folder = Path(words.out).resolve() if words.out else OUT / ("figures-quick" if words.quick else "figures")
    begun = time.monotonic()
    console = Console(emoji=False)

    def figures() -> int:
        skipped: list[str] = []
        names = [studies.load(name).name for name in words.only.split()] or [*loadable(console)]
        todo = jobs(names, load_published(), words.quick, words.sim, folder, skipped)
        say(console, f"figures so far: {os.path.relpath(folder / INDEX)}", "dim")
        so_far: list[Ended] = []

        def shown(ended: Sequence[Ended]) -> None:
            so_far[:] = ended
            write_figures(ended, folder, words.quick, len(todo), running=True)

        try:
            done = run_all(todo, console, shown)
        except BaseException:
            write_figures(so_far, folder, words.quick, len(todo))
            raise
        for line in skipped:
            say(console, f"skipped: {line}", "yellow")
        status = leave(done, folder, words.quick, console, time.monotonic() - begun)
        if words.quick:
            compare_with_record(done, console)
        if words.record and status == 0:
            quick.write_quick(digests(done), [line.partition(":")[0] for line in skipped])
            say(console, f"record: {os.path.relpath(quick.FILE)}")
        return status

    return exit_code(figures, "completed runs are kept; repeat the command to continue")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
