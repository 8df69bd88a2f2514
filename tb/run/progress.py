"""Progress of a run on a terminal: a bar for runs of more than two seconds, and no output elsewhere.

The simulator process sends reports through a pipe, one JSON object a line: `sim_us`, `messages`, and for studies that
report progress `done`, `total` and `what`. Rates count from the first report, without build and start.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tb.report.terminal import is_live

DELAY_S = 2.0
"""Seconds before the bar appears."""
LOOK_S = 0.25
"""Seconds between updates of the bar without reports."""
COLUMNS = ("counted", "simulated", "rate", "left")


def show_progress(fd: int, console: Console, ended: threading.Event | None = None) -> None:
    """Draw the reports of the simulator process until the pipe `fd` ends, then close it. Silent without a terminal.

    `ended` is set once the simulator has ended, even if a process that it has left keeps the pipe open.
    """
    begun = time.monotonic()
    first: tuple[float, int] | None = None
    columns = (TextColumn("simulating"), BarColumn(), *(TextColumn(f"{{task.fields[{name}]}}") for name in COLUMNS))
    empty: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    with Progress(*columns, console=console, transient=True, disable=not is_live(console), auto_refresh=False) as bar:
        task = bar.add_task("", total=None, visible=False, **empty)
        state: dict[str, Any] = {}
        for report in _reports(fd, ended or threading.Event()):
            now = time.monotonic()
            if report:
                state = report
                first = first or (now, state["messages"])
            if now - begun >= DELAY_S and is_live(console):
                seconds = now - first[0] if first else 0.0
                since = state.get("messages", 0) - (first[1] if first else 0)
                told: dict[str, Any] = dict(fields(state, seconds, since))
                bar.update(task, visible=True, completed=state.get("done", 0), total=state.get("total"), **told)
                bar.refresh()


def fields(state: dict[str, Any], seconds: float, messages: int) -> dict[str, str]:
    """Return the texts of the bar: count, simulated time, messages a second, time left.

    Args:
        state: Last report.
        seconds: Wall time since the first report.
        messages: Messages delivered since the first report.
    """
    done, total = state.get("done", 0), state.get("total", 0)
    left = seconds * (total - done) / done if done and seconds else None
    counted = f"{done:,}/{total:,} {state['what']}" if total else f"{state.get('messages', 0):,} messages"
    return {
        "counted": counted,
        "simulated": f"{state.get('sim_us', 0.0) / 1000:,.2f} ms simulated",
        "rate": f"{messages / seconds:,.0f} messages/s" if messages and seconds else "",
        "left": f"{clock(left)} left" if left is not None and total else "",
    }


def clock(seconds: float) -> str:
    """Return a duration as `0:07` or `1:02:03`."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def _reports(fd: int, ended: threading.Event) -> Iterator[dict[str, Any] | None]:
    """Yield the reports as they arrive, and None after each interval without a report."""
    with os.fdopen(fd, "rb", buffering=0) as pipe:
        rest = b""
        while True:
            if not select.select([pipe], [], [], LOOK_S)[0]:
                if ended.is_set():
                    return
                yield None
                continue
            data = pipe.read(1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield json.loads(line)
