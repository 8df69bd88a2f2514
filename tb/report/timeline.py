"""Timeline of a run: `timeline.json` for Perfetto (https://ui.perfetto.dev) and chrome://tracing.

Each host, NIC, switch and cable is a process. Spans show their activity with the names of instruction paths. Arrows
follow each message from `send` to its handler. Counters show queues, slack buffers, SRAM and PCI bus. The file is
written after each run with a short trace, or by `make timeline STUDY=... [FROM=us TO=us]`.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from pymodels.results import write_atomically
from tb.plan import studies
from tb.report.lives import Lives
from tb.report.recorded import Recorded, read_recorded
from tb.report.terminal import exit_code
from tb.report.timeline_messages import Messages
from tb.report.timeline_places import Places
from tb.report.timeline_units import Units
from tb.report.trace_events import TraceEvents
from tb.report.window import add_window, window_ps
from tb.report.wire import rows
from tb.tools.paths import OUT
from tb.tools.workplace import adding

FILE = "timeline.json"
SOON = 400_000
"""Maximum number of trace records for which a run writes its timeline automatically."""


def timeline(recorded: Recorded) -> TraceEvents:
    """Return the timeline events of a run."""
    events = TraceEvents()
    places = Places(recorded.legend, events)
    lives = Lives(recorded.legend)
    units = Units(places, events, lives.shown.calls)
    for row in rows(recorded.trace):
        lives.take(row)
        units.take(row)
    units.finish()
    Messages(lives, units, places, events).add()
    return events


def write_timeline(recorded: Recorded, path: Path) -> int:
    """Write `timeline.json` atomically and return the number of events. Raises ResultsError if writing fails."""
    events = timeline(recorded)
    about = {"made by": "sanlab", "hosts": " ".join(recorded.legend.hosts)}
    if recorded.legend.lost:
        about["dropped records"] = str(recorded.legend.lost)
    write_atomically(path, events.parts(about))
    return len(events)


def write_soon(folder: Path, console: Console, study: str = "") -> None:
    """Write the timeline of a completed run if its trace is short, else print the command that does.

    `study` is the name of the study if the folder has another name.
    """
    if not (folder / "trace.npy").exists():
        return
    recorded = read_recorded(folder)
    if len(recorded.trace) <= SOON:
        write_timeline(recorded, folder / FILE)
    else:
        asked = f"make timeline STUDY={study or folder.name}"
        text = (
            f"no timeline: the trace has {len(recorded.trace):,} records; `{asked}` writes it; FROM= and TO= limit it"
        )
        console.print(text, style="dim", markup=False, highlight=False, emoji=False, soft_wrap=True)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make timeline`."""
    parser = argparse.ArgumentParser(prog="sanlab timeline", description="Write the timeline of a run that has ended.")
    parser.add_argument("study", help="study with results, or the folder of its results")
    add_window(parser)
    words = parser.parse_args(argv)
    return exit_code(lambda: _command(words), "the timeline was not written")


def _command(words: argparse.Namespace) -> int:
    folder = Path(words.study) if "/" in words.study else OUT / words.study
    if not folder.is_dir() and "/" not in words.study:
        studies.load(words.study)  # raises the error for an unknown name
    begin, end = window_ps(words.begin, words.end)
    with adding(folder, FILE) if folder.is_dir() else nullcontext():
        recorded = read_recorded(folder)
        times = recorded.trace["time"]
        within = (times >= begin) & (times <= (end if end is not None else times.max(initial=0)))
        count = write_timeline(replace(recorded, trace=recorded.trace[within]), folder / FILE)
    path = os.path.relpath(folder / FILE)
    print(f"timeline: {path}, {count:,} events; open it in https://ui.perfetto.dev or chrome://tracing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
