"""Tables of the bench's page, generated from the committed records of figures and instructions a message."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodels.errors import SanlabError
from pymodels.results import write_atomically
from tb.bench.callgrind import PARTS
from tb.tools.sources import changed_since, head

HERE = Path(__file__).parent
PAGE, RECORD = HERE / "README.md", HERE / "measured.json"
IDLE = 0.5
"""Maximum one-minute load average of the machine for which a record is written."""
MEANINGS = {
    "pingpong_messages_per_wall_s": "one-way null messages between 2 hosts, a wall second, with the trace",
    "pingpong_python_wakes_per_message": "wake-ups of Python for such a message",
    "pingpong_python_us_per_message": "microseconds of Python for such a message",
    "python_share": "share of Python in the wall time",
    "sleep_speedup": "wall time with always-on clocks over that with gated clocks",
    "trace_overhead": "wall time that the trace adds, as a fraction (noise of several percent)",
    "streaming_messages_per_wall_s": "64 B messages with 8 hosts all sending, a wall second",
    "bulk_MB_per_wall_s": "MB in 64 KB messages between 2 hosts, a wall second",
    "idle_wall_ms_per_sim_s": "wall milliseconds for a second of simulated silence",
    "am_pingpong_messages_per_wall_s": "short messages of AM, requests and replies, between 2 hosts, a wall second",
    "am_pingpong_vs_grim": "the same over null messages of GRIM",
    "am_streaming_messages_per_wall_s": "short messages of AM with 8 hosts all sending, a wall second",
    "am_streaming_vs_grim": "the same over null messages of GRIM",
    "am2_pingpong_messages_per_wall_s": "short messages of AM-II, requests and replies, between 2 hosts, a wall second",
    "am2_pingpong_vs_grim": "the same over null messages of GRIM",
    "am2_streaming_messages_per_wall_s": "short messages of AM-II with 8 hosts all sending, a wall second",
    "am2_streaming_vs_grim": "the same over null messages of GRIM",
    "epos_pingpong_messages_per_wall_s": "messages of 16 B of bare EPOS between 2 hosts, a wall second",
    "epos_pingpong_vs_echo": "the same over messages of `echo`",
    "card_poll_vs_memory_poll": "wall time of idle polling of a word of the card, over one of host memory",
    "waves_slowdown": "simulation of a ping-pong with WAVES=1, over one without",
    "switch_chars_per_wall_s": "characters through the saturated 8-port crossbar, a wall second",
    "switch_vs_cpp": "the same over a plain C++ harness",
    "program_messages_per_wall_s": "messages of `mpi4py.bench pingpong`, one process on each host, a wall second",
    "program_us_per_call": "wall time of a non-blocking call of a program (`MPI_Type_size`), us",
}
"""Description of each figure of the bench."""


def load_record(path: Path = RECORD) -> dict[str, Any] | None:
    """Return the committed record of the bench, or None if it does not exist."""
    if not path.is_file():
        return None
    plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return plain


def check_quiet() -> None:
    """Raise SanlabError unless this machine is idle and the sources equal the checked-out commit."""
    load = os.getloadavg()[0]
    if load > IDLE:
        remedy = f"wait until it is below {IDLE}"
        raise SanlabError("bench not recorded", f"the load average of this machine is {load:.2f}", remedy)
    if changed := changed_since(head()):
        raise SanlabError("bench not recorded", f"{changed[0]} is not committed", "commit first")


def write_record(plain: Mapping[str, Any], counts: Mapping[str, Any]) -> None:
    """Write a record and the page's tables, each atomically."""
    record = {"commit": head(), **plain}
    write_atomically(RECORD, json.dumps(record, indent=1) + "\n")
    write_atomically(PAGE, with_tables(PAGE.read_text(encoding="utf-8"), record, counts))


def with_tables(page: str, record: Mapping[str, Any] | None, counts: Mapping[str, Any]) -> str:
    """Return the page with the tables of these records between its marks."""
    for name, lines in (("figures", figures(record)), ("instructions", instructions(counts))):
        begin, end = f"<!-- {name}: written by `sanlab bench --write` -->\n", f"<!-- end of {name} -->\n"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        found = pattern.search(page)
        if not found:
            raise SanlabError(f"no marks for {name}", f"the page lacks {begin.strip()}", "restore the two marks")
        page = page[: found.start()] + begin + "\n".join([*lines, end]) + page[found.end() :]
    return page


def figures(record: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the table of figures as Markdown lines, or one sentence without a record."""
    if record is None:
        return ["No figures are recorded."]
    machine = record["machine"]
    told = (
        f"Commit {record['commit'][:8]}, {machine['cores']} cores ({machine['processor']}), Python {machine['python']}"
    )
    lines = [f"{told}; median of {record['repeats']} runs at scale {record['scale']:g}.", ""]
    lines += ["| figure | meaning | measured | target | reached |", "|---|---|---|---|---|"]
    for name, one in record["figures"].items():
        target = "" if one["asked"] is None else f"at {'least' if one['at_least'] else 'most'} {one['asked']:,g}"
        reached = {None: "", True: "yes", False: "no"}[one["met"]]
        lines.append(f"| `{name}` | {MEANINGS[name]} | {shown(one['value'])} | {target} | {reached} |")
    return lines


def instructions(counts: Mapping[str, Any]) -> Sequence[str]:
    """Return the table of instructions a message as Markdown lines."""
    lines = [f"g++ {counts['with']['g++']}, Python {counts['with']['Python']}.", ""]
    lines += [f"| workload | all | {' | '.join(PARTS)} |", "|" + "---|" * (2 + len(PARTS))]
    for name, parts in counts["counts"].items():
        numbers = " | ".join(f"{parts[part]:,}" for part in PARTS)
        lines.append(f"| `{name}` | {sum(parts.values()):,} | {numbers} |")
    return lines


def shown(value: float) -> str:
    """Return a figure with three significant digits, or as a whole number from 1,000 on."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
