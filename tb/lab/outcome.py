"""Conversion of a study's findings to `results.json`: published next to measured values, and the cost of the run."""

from __future__ import annotations

import ctypes
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pymodels.published import comparisons
from pymodels.results import Cost, Results, write_atomically, write_results
from tb.lab.lab import Lab
from tb.plan.provenance import versions
from tb.plan.studies import StudyInfo
from tb.report.dissector import FILE as DISSECTOR
from tb.report.dissector import write_dissector
from tb.report.executed import FILE as EXECUTED
from tb.report.executed import write_executed
from tb.report.numbers import numbered
from tb.report.packets import FILE, captured, write_packets
from tb.report.recorded import LEGEND, TRACE, write_legend, write_trace
from tb.report.symbols import FILE as SYMBOLS
from tb.report.symbols import write_symbols


def clock_edges() -> int:
    """Return the number of clock edges evaluated over all clocks; 0 if the simulator does not count them."""
    program = ctypes.CDLL(None)
    try:
        counter = program.dw_clock_edges
    except AttributeError:
        return 0
    counter.restype = ctypes.c_uint64
    return int(counter())


def results_of(info: StudyInfo, lab: Lab, wall_s: float, simulator: str) -> Results:
    """Return the content of `results.json`.

    Args:
        info: Study.
        lab: Lab of the study at the end of the run.
        wall_s: Wall time of the run within the simulator, in s.
        simulator: Name and version that the simulator reports.
    """
    plan, findings, spent = lab.plan, lab.findings, lab.simulation.engine.cost
    profile = plan.profile.name
    cost = Cost(
        cycles=clock_edges(),
        python_wakes=spent.python_wakes,
        wall_rtl_s=spent.wall_rtl_s,
        wall_python_s=spent.wall_python_s,
        messages=findings.messages,
        python_share=spent.wall_python_s / wall_s if wall_s else 0.0,
    )
    return Results(
        study=info.name,
        simulator=lab.place,
        seed=plan.request.seed,
        cluster=plan.cluster.describe(),
        profile=profile,
        sim_time_ns=lab.kernel.now // 1000,
        wall_s=wall_s,
        metrics=dict(sorted(findings.metrics.items())),
        series=dict(findings.series),
        published=comparisons(info.name, profile, findings.metrics),
        cost=cost,
        settings=plan.settings,
        given=plan.given,
        firmware=plan.firmware,
        versions=versions(simulator),
        commits=plan.request.commits,
        wall_begun=begun_at(wall_s),
        warnings=tuple(findings.warnings),
    )


def begun_at(wall_s: float) -> str:
    """Return date and time in UTC of `wall_s` seconds ago."""
    return f"{datetime.now(timezone.utc) - timedelta(seconds=wall_s):%Y-%m-%dT%H:%M:%SZ}"


def leave_behind(folder: Path, info: StudyInfo, lab: Lab, wall_s: float, simulator: str) -> None:
    """Write trace, legend, profiles, symbols, packets, failures.txt and results.json, each atomically.

    The results come last, so that all other files exist with them. Raises ResultsError for a failed write or a result
    that is not finite.
    """
    write_trace(numbered(lab.trace(), lab.legend()), folder / TRACE)
    write_legend(lab.legend(), folder / LEGEND)
    write_executed(lab.executed(), folder / EXECUTED)
    write_symbols(lab.programs(), folder / SYMBOLS)
    parts, dropped = lab.captured()
    if any(parts):
        link_type = lab.plan.profile.nic.network.capture_type
        write_packets(captured(parts), lab.legend(), folder / FILE, dropped, link_type)
        write_dissector(lab.legend(), folder / DISSECTOR)
    write_atomically(folder / "failures.txt", "".join(f"{line}\n" for line in lab.findings.failures))
    write_results(results_of(info, lab, wall_s, simulator), folder / "results.json")
