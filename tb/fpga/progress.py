"""Progress of work on many blocks: a bar on a terminal, one line a block elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tb.quality.check import WORKERS
from tb.report.terminal import is_live, say

Given = TypeVar("Given")
Made = TypeVar("Made")


def each(
    console: Console, given: Sequence[Given], name: Callable[[Given], str], work: Callable[[Given], Made]
) -> list[Made]:
    """Do the work for each element, a few at a time, and return the results in the order of the elements."""
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = {pool.submit(work, one): name(one) for one in given}
        try:
            for line in _shown(console, len(jobs), (jobs[job] for job in as_completed(jobs))):
                say(console, line, "dim")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [job.result() for job in jobs]


def _shown(console: Console, total: int, done: Iterator[str]) -> Iterator[str]:
    """Draw a bar on a terminal; elsewhere yield a line for each name."""
    if not is_live(console):
        yield from (f"{count} of {total}: {name}" for count, name in enumerate(done, 1))
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        for name in done:
            bar.update(task, advance=1, description=name)
