"""Cocotb test of every cluster run: read the request, run the study, and write results and trace."""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cocotb

from firmware.layers import host_library
from firmware.stack import stack
from pymodels.host.outside import end_all
from tb.lab.cases import RunCases
from tb.lab.cluster import RunningCluster
from tb.lab.course import run_study
from tb.lab.lab import Lab
from tb.lab.outcome import leave_behind
from tb.lab.switch import RunningSwitch
from tb.plan import studies
from tb.plan.options import options_by_layer
from tb.plan.request import Plan, Request, plan
from tb.run.ends import die_with_parent, failure_text, leave_interrupts_to_parent
from tb.stuck.watch import explain_failure
from tb.tools.watchdog import Watchdog


@cocotb.test()
async def study(dut: Any) -> None:
    """Run the study of the request; fail if the study, an invariant or a task fails."""
    await whole_run(dut, Lab)


async def whole_run(dut: Any, make: Callable[[Plan, RunningCluster | RunningSwitch], Lab]) -> None:
    """Run the study of the request in the lab that `make` returns."""
    folder = Path(os.environ["SANLAB_RUN"])
    request = Request.load(folder / "request.json")
    info = studies.load(request.study)
    begun = time.perf_counter()
    understood = plan(request, info)
    running = RunningCluster(dut, understood) if info.design is None else RunningSwitch(dut, understood)
    lab = make(understood, running)
    for layer in stack(info.layers, options_by_layer(understood.options)):
        host_library(layer)  # imported now, so that imports do not count in the cost of the run
    gc.freeze()  # present objects live until the end; the run itself makes few reference cycles
    gc.set_threshold(100_000, 50, 100)
    error: BaseException | None = None
    cases, ended = RunCases(folder, info, lab, begun), list[str]()
    process, whole = die_with_parent(ended.append), _whole(info, lab)
    cost, turn_s, limit_s = running.engine.cost, lab.option("run.turn_s"), lab.option("run.limit_s")
    watchdog = Watchdog(turn_s, limit_s, lambda: (cost.python_wakes, lab.kernel.now), lab.kernel.waiting, cases.note)
    watchdog.start()
    try:
        await running.engine.start(always_on=bool(understood.options["run.always_on"]))
        leave_interrupts_to_parent()
        await running.engine.run(
            lab.spawn(whole, f"study {info.name}"),
            hang_ps=int(understood.options["run.hang_us"]) * 1_000_000,
        )
    except BaseException as raised:  # noqa: BLE001 - results and trace are written first, whatever ended the study
        error = raised
        traceback.print_exc()
        ended.append(failure_text(raised, info, whole))
    watchdog.stop()
    if os.getpid() != process:  # a child that the study has forked
        os._exit(1)
    end_all()
    broken = running.broken_invariants()
    cycles = explain_failure(lab, error, broken)
    lab.findings.failures += [*ended, *(f"invariant: {line}" for line in broken), *cycles, *cases.disagreements()]
    cases.finish(error, [*ended, *cycles], running.invariants_by_name())
    simulator = f"{cocotb.SIM_NAME} {cocotb.SIM_VERSION}"
    if info.design is None and lab.running.monitors:
        lab.running.monitors.leave_behind(folder)
    leave_behind(folder, info, lab, time.perf_counter() - begun, simulator)
    if isinstance(error, Exception):
        raise error
    assert not lab.findings.failures, "; ".join(lab.findings.failures)


async def _whole(info: studies.StudyInfo, lab: Lab) -> None:
    await lab.simulation.boot()
    await run_study(info, lab)
