"""`make lint`: run every static check, print a table and the complaints; exit code 1 for complaints.

Usage: `python -m tb.quality.lint [CHECK ...]`; each CHECK is the beginning of a check's name.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import nearest
from tb.quality import crossings, events, hdl, names, python, sentences, text, words
from tb.quality.check import Check, Outcome
from tb.report.terminal import status
from tb.tools.programs import ToolError

CHECKS = (
    *python.CHECKS,
    *text.CHECKS,
    *names.CHECKS,
    *events.CHECKS,
    *words.CHECKS,
    *sentences.CHECKS,
    *hdl.CHECKS,
    *crossings.CHECKS,
)
SHOWN = 60
"""Maximum number of complaints printed for one check."""


def chosen(words: list[str]) -> list[Check]:
    """Return the checks whose names begin with one of `words`, or all without words. Raises ToolError for an
    unknown check.
    """
    for word in words:
        if not any(check.name.startswith(word) for check in CHECKS):
            names = [check.name for check in CHECKS]
            raise ToolError(f"unknown check {word!r}", "no check's name begins with this", nearest(word, names))
    return [check for check in CHECKS if not words or any(check.name.startswith(word) for word in words)]


def report(outcomes: list[Outcome], console: Console) -> None:
    """Print the table, then the complaints."""
    table = Table("check", "subject", "result", "s", title="lint", title_justify="left")
    table.columns[3].justify = "right"
    for one in outcomes:
        result = "[green]passed[/]" if one.passed else f"[red]{len(one.messages)} complaints[/]"
        table.add_row(one.name, one.subject, result, f"{one.seconds:.1f}")
    console.print(table)
    for one in outcomes:
        if not one.passed:
            console.rule(one.name, align="left")
            for line in one.messages[:SHOWN]:
                console.print(escape(line), highlight=False, soft_wrap=True)
            if len(one.messages) > SHOWN:
                console.print(f"... and {len(one.messages) - SHOWN} more")


def main(argv: list[str] | None = None) -> int:
    """Run the command `make lint` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab lint", description=__doc__)
    parser.add_argument(
        "check", nargs="*", help="only checks whose names begin with these words: " + ", ".join(c.name for c in CHECKS)
    )
    options = parser.parse_args(argv)
    console = Console(emoji=False)
    try:
        checks = chosen(options.check)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 2
    outcomes = []
    for check in checks:
        with status(console, check.name):
            outcomes.append(check.run())
    report(outcomes, console)
    return 0 if all(one.passed for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
