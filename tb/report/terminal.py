"""Summary of a run: tables on a terminal, plain columns in a file or pipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table as RichTable

from pymodels.errors import SanlabError, shown
from pymodels.results import Results
from tb.report import executed, tables
from tb.report.tables import Described, Table


def summary(
    console: Console,
    info: Described,
    results: Results,
    failures: Sequence[str],
    page: Path,
    folder: Path,
    clocks: Iterable[Table] | None = None,
) -> None:
    """Print a result: question, tables, cost, failures, and the path of the report (last line).

    Args:
        console: Console.
        info: Name and question of the study.
        results: Results of the run.
        failures: Failures of the run.
        page: Path of the report.
        folder: Folder of the run's other files. Both paths are shown relative to the current folder.
        clocks: Tables of NICs that execute firmware in C; read from `folder` by default.
    """
    say(console, f"{info.name}: {info.question}", "bold")
    say(console, tables.inputs(results), "dim")
    for table in (
        tables.sizes(results.metrics),
        tables.stage_table(tables.stages(results.metrics)),
        tables.conditions(results.metrics),
        tables.published(results.published),
        tables.others(results.metrics),
        *(executed.short(folder) if clocks is None else clocks),
    ):
        if table:
            say(console, "")
            show(console, table)
    say(console, "")
    say(console, ", ".join(f"{name} {value}" for name, value in tables.cost(results).rows), "dim")
    for warning in results.warnings:
        say(console, f"warning: {warning}", "yellow")
    for failure in failures:
        say(console, f"failed: {failure}", "bold red")
    if page.parent != folder:
        say(console, f"results: {os.path.relpath(folder)}")
    say(console, f"report: {os.path.relpath(page)}")


def is_live(console: Console) -> bool:
    """Return True for a terminal that can redraw, but not for a notebook or a file with FORCE_COLOR."""
    return console.is_terminal and not ("FORCE_COLOR" in os.environ and not console.file.isatty())


def status(console: Console, text: str) -> AbstractContextManager[Status | None]:
    """Return a spinner with a text on a terminal, a null context elsewhere."""
    return console.status(text) if is_live(console) else nullcontext()


def show(console: Console, table: Table) -> None:
    """Print a table, drawn on a terminal and in plain columns elsewhere."""
    (_rich if console.is_terminal else _plain)(console, table)


def say(console: Console, text: str, style: str = "") -> None:
    """Print one line without wrapping and markup, so that a path in it can be copied."""
    console.print(text, style=style, markup=False, highlight=False, emoji=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print one line of any length on stderr, with control characters escaped."""
    text = "\n".join(map(shown, text.splitlines()))
    Console(stderr=True, soft_wrap=True, emoji=False).print(text, style="red", markup=False, highlight=False)


def exit_code(command: Callable[[], int], interrupted: str, what: str = "command") -> int:
    """Run a command and return its exit code.

    A SanlabError is printed and gives its own exit code. An operating system error, such as a full disk, is printed in
    one line and gives 1. Ctrl-C prints `interrupted` and gives 130.
    """
    try:
        return command()
    except SanlabError as error:
        complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        raise  # the reader of the pipe has closed it
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{what} failed: {place}{error.strerror or error}; free some space or correct the permissions")
        return 1
    except KeyboardInterrupt:
        complain(f"interrupted; {interrupted}")
        return 130


def _rich(console: Console, table: Table) -> None:
    drawn = RichTable()
    for index, heading in enumerate(table.headings):
        words = index < table.words
        drawn.add_column(heading, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(escape, row))
    console.print(drawn, highlight=False)


def _plain(console: Console, table: Table) -> None:
    widths = [max(map(len, column)) for column in zip(table.headings, *table.rows, strict=True)]
    for row in chain([table.headings], table.rows):
        cells = (
            text.ljust(width) if index < table.words else text.rjust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        say(console, "  ".join(cells).rstrip())
