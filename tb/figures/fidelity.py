"""`make fidelity` (`python -m tb.figures.fidelity [--out=FOLDER]`): accuracy of every figure, as a page.

Measured values come from the last `make figures`, intervals from `make uncertainty`, held-out predictions from `make
calibrate`, and other values from the record. With a folder, the command writes `index.html`, `fidelity.md` and
`fidelity.json` there. Without one, it writes the page and the record in this directory, with committed calibrations
only, and rejects values that were never measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from pymodels.published import load_changes, load_published
from pymodels.results import Kind, ResultsError, write_atomically
from tb.figures import calibration_tables
from tb.figures.held_out import Calibration, committed_calibrations, known_calibrations
from tb.figures.intervals import known_intervals
from tb.figures.measured import measured_runs
from tb.figures.pages import html, markdown
from tb.figures.record import FILE, load_record, write_record
from tb.figures.rows import Row, glance, rows
from tb.figures.summary import COLUMNS, as_json, comparison, evidence
from tb.report.tables import Table, number
from tb.report.terminal import exit_code, say, show
from tb.tools.programs import ToolError
from tb.tools.sources import changed_since, head

PAGE = Path(__file__).with_name("fidelity.md")
SCHEMA = 1


def leave(
    folder: Path, found: Sequence[Row], console: Console, calibrations: Mapping[str, Calibration] | None = None
) -> int:
    """Write the three forms of the page, print the summary, and return the exit code.

    Args:
        folder: Folder of the page.
        found: All rows, in their order.
        console: Terminal.
        calibrations: Calibrations by family.
    """
    changes, known = load_changes(), evidence(found, calibrations or {})
    plain = {
        "schema": SCHEMA,
        "glance": dict(glance(found)),
        "comparison": [dict(zip(COLUMNS, line, strict=True)) for line in comparison(known).rows],
        "calibrations": {name: calibration_tables.as_json(one) for name, one in known.calibrations.items()},
        "rows": [as_json(row, known) for row in found],
    }
    write_atomically(folder / "fidelity.json", json.dumps(plain, indent=1, allow_nan=False) + "\n")
    write_atomically(folder / "fidelity.md", markdown(found, changes, known.calibrations))
    write_atomically(folder / "index.html", html(found, changes, known.calibrations))
    show(console, comparison(known))
    show(console, Table(("", ""), tuple(glance(found))))
    _print_recorded(found, console)
    say(console, f"fidelity: {os.path.relpath(folder / 'index.html')}")
    return 0


def present_commit() -> str:
    """Return the hash of the checked-out commit, or an empty text if the sources differ from it."""
    try:
        commit = head()
        return "" if changed_since(commit) else commit
    except ToolError:
        return ""


def keep(found: Sequence[Row], console: Console, page: Path = PAGE, record: Path = FILE) -> int:
    """Write the record and the page, name the rows that need a reason, and return the exit code.

    Raises ResultsError if a value was never measured.
    """
    missing = [row.value.name for row in found if row.today is None and row.value.kind is not Kind.QUOTED]
    if missing:
        cause = "; ".join(missing)
        raise ResultsError("values without a measurement", cause, "run make figures; --only=<study> selects a study")
    uncommitted = [row.value.name for row in found if row.today and not row.today.commit]
    if uncommitted:
        cause = f"{uncommitted[0]} was measured with uncommitted sources"
        raise ResultsError("record not written", cause, "commit, then run make figures again")
    write_record({row.value.name: row.today for row in found if row.today is not None}, record)
    write_atomically(page, markdown(found, load_changes(), committed_calibrations()))
    for row in found:
        if row.moved and not row.value.changed and row.today:
            first, today = number(row.value.first_value or 0.0), number(row.today.measured)
            say(console, f"{row.value.name}: {first} at first, {today} today, without a reason in `changed`", "yellow")
    _print_recorded(found, console)
    say(console, f"page and record: {os.path.relpath(page)}, {os.path.relpath(record)}")
    return 0


def _print_recorded(found: Sequence[Row], console: Console) -> None:
    recorded = sum(row.recorded for row in found)
    if recorded:
        say(console, f"{recorded} values come from the record: no run of make figures here measured them", "yellow")
    for row in found:
        if row.outdated:
            made = f"{number(row.outdated.measured)} by {row.outdated.command}"
            say(console, f"{row.value.name}: no interval; the known interval belongs to {made}", "yellow")


def main(argv: list[str] | None = None) -> int:
    """Write the page and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab fidelity", description="Write a page with the accuracy of every figure."
    )
    parser.add_argument(
        "--out", default="", help="folder for the page (default: update the page and the record in the repository)"
    )
    words = parser.parse_args(argv)
    console = Console(emoji=False)

    def write() -> int:
        record = load_record() if FILE.exists() else {}
        found = rows(load_published(), measured_runs(), record, known_intervals(), present_commit())
        if not words.out:
            return keep(found, console)
        return leave(Path(words.out).resolve(), found, console, known_calibrations())

    return exit_code(write, "the page is unchanged")


if __name__ == "__main__":
    sys.exit(main())
