"""What do the operations of this VIA implementation cost, one component at a time (VIBe: paper 001, chapter 4)?

Strategy: two processes on two hosts. First the calls that move no data are timed. Then latency, CPU utilisation and
bandwidth are measured in the base configuration, with one component changed at a time, and between clients and a
server. The base configuration has one reused buffer, one data segment, no completion queue, one VI and no handler.
Every condition has its own connection. The user chooses preset and profile: one run measures one implementation and
writes its table as `vibe.md`. The defaults are short enough for Icarus; a longer run is `SET="rounds=20 messages=100
bytes=262144 largest=65536"`.
"""

from __future__ import annotations

from pathlib import Path

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.report import tables
from tb.studies.kit.steady import tell_steady
from tb.studies.via._via_ends import End, ends
from tb.studies.via._via_rounds import bandwidth, latency
from tb.studies.via._vibe_cases import PARTS, Row, rows
from tb.studies.via._vibe_costs import costs
from tb.studies.via._vibe_servers import servers

LAYER = "via"
ALL = "all"
OPTIONS = {
    "rounds": Option(1, "round trips of each condition", 1, 100_000),
    "messages": Option(3, "messages of each stream", 2, 200),
    "bytes": Option(8192, "bytes of each stream, in at least three messages", 0, 1 << 24, unit="bytes"),
    "largest": Option(1024, "longest message in bytes", 16, 65536, unit="bytes"),
    "part": Option(ALL, "part of the suite to run", choices=(ALL, "costs", *PARTS, "servers")),
    **layer_options(LAYER),
}
QUICK = "rounds=2 messages=4 largest=4096"
VARIANTS = {
    "firmvia-sp": ("sp", "via.preset=firmvia"),
    "bvia1-lanai4": ("lanai4", "via.preset=bvia1 via.vis=48"),
    "bvia2-lanai4": ("lanai4", "via.preset=bvia2 via.vis=48"),
    "hwvia-lanai9": ("lanai9", "via.preset=hwvia via.vis=48"),
}
"""Implementations of the paper, each on the NIC for which it was made."""


async def run(lab: Lab) -> None:
    """Run the study."""
    near, far = await ends(lab)
    part = lab.text("part")
    parts = {name: rows(name, lab.option("largest")) for name in PARTS if part in (ALL, name)}
    total, done, late = 2 + sum(map(len, parts.values())), 1, list[float]()
    if part in (ALL, "costs"):
        await costs(lab, near, far, lab.option("rounds"))
    for name, conditions in parts.items():
        for row in conditions:
            lab.progress(done, total, f"conditions, now {row.name}")
            late += await _measure(lab, near, far, row)
            done += 1
        _curves(lab, name, conditions)
    if part in (ALL, "servers"):
        lab.progress(done, total, "conditions, now clients and servers")
        await servers(lab, near, far, lab.option("rounds"))
    lab.progress(total, total, "conditions")
    if late:
        tell_steady(lab, late, enough=False)
    _write(lab)


async def _measure(lab: Lab, near: End, far: End, row: Row) -> list[float]:
    """Measure the quantities of a row; returns how many percent faster the second half of its stream was, if any."""
    if "L" in row.quantities:
        found = await latency(near, far, row.case, lab.option("rounds"))
        lab.metric(f"L_{row.name}", found.value)
        lab.metric(f"U_{row.name}", found.cpu)
    if "B" in row.quantities:
        messages = max(3, min(lab.option("messages"), lab.option("bytes") // row.case.size))
        found = await bandwidth(near, far, row.case, messages)
        lab.metric(f"B_{row.name}", found.value)
        return [found.late]
    return []


def _curves(lab: Lab, part: str, conditions: list[Row]) -> None:
    """Record each quantity over the part's axis: one curve for each kind of condition."""
    metrics = lab.findings.metrics
    for quantity, unit in (("L", "us"), ("U", "percent of the CPU"), ("B", "MB/s")):
        curves: dict[str, list[Row]] = {}
        for row in conditions:
            if f"{quantity}_{row.name}" in metrics:
                curves.setdefault(_kind(part, row), []).append(row)
        for kind, members in curves.items():
            if len(members) > 1:
                y = [metrics[f"{quantity}_{row.name}"] for row in members]
                lab.series(f"{quantity}_{kind}", [row.point for row in members], y, PARTS[part][1], unit)


def _kind(part: str, row: Row) -> str:
    """Return the curve of a row: polling or blocking over size, or one size over the changed component."""
    words = row.name.rsplit("_", 1)
    how = "block_" if row.case.block else ""
    return words[0] if PARTS[part][1] == "bytes" else f"{part}_{how}{words[1]}"


def _write(lab: Lab) -> None:
    """Write the table of this implementation as `vibe.md` in the run's directory."""
    metrics = lab.findings.metrics
    lines = [f"# VIBe: {lab.text('via.preset')} on {lab.plan.profile.name}", ""]
    for table in (tables.others(metrics), tables.conditions(metrics)):
        lines += [f"| {' | '.join(table.headings)} |", "|---" * len(table.headings) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in table.rows]
        lines.append("")
    (Path(lab.plan.request.folder) / "vibe.md").write_text("\n".join(lines), encoding="utf-8")
