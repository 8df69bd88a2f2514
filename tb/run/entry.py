"""The cocotb test of every cluster run: reads the request, runs the study, leaves results and trace behind."""

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
from tb.lab.cluster import RunningCluster
from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.lab.outcome import leave_behind
from tb.lab.switch import RunningSwitch
from tb.plan import studies
from tb.plan.faults import faults
from tb.plan.options import options_by_layer
from tb.plan.request import INJECT, Plan, Request, plan
from tb.stuck.watch import explain_failure


@cocotb.test()
async def study(dut: Any) -> None:
    """Run the study of the request; fails when the study, an invariant or a task does."""
    await whole_run(dut, Lab)


async def whole_run(dut: Any, make: Callable[[Plan, RunningCluster | RunningSwitch], Lab]) -> None:
    """The same, in a lab that `make` makes."""
    folder = Path(os.environ["SANLAB_RUN"])
    request = Request.load(folder / "request.json")
    info = studies.load(request.study)
    begun = time.perf_counter()
    understood = plan(request, info)
    running = RunningCluster(dut, understood) if info.design is None else RunningSwitch(dut, understood)
    lab = make(understood, running)
    for layer in stack(info.layers, options_by_layer(understood.options)):
        host_library(layer)  # imported now: the cost of the run is the run's
    gc.freeze()  # what stands now stays; the run itself makes next to no cycles
    gc.set_threshold(100_000, 50, 100)
    error = None
    try:
        await running.engine.start(always_on=bool(understood.options["run.always_on"]))
        await running.engine.run(
            lab.spawn(_whole(info, lab), f"study {info.name}"),
            hang_ps=int(understood.options["run.hang_us"]) * 1_000_000,
        )
    except Exception as raised:  # noqa: BLE001 - whatever ended the study: results and trace are left first
        error = raised
        traceback.print_exc()
        lab.findings.failures.append(f"{type(raised).__name__}: {raised}")
    end_all()
    broken = running.broken_invariants()
    lab.findings.failures += [*(f"invariant: {line}" for line in broken), *explain_failure(lab, error, broken)]
    simulator = f"{cocotb.SIM_NAME} {cocotb.SIM_VERSION}"
    leave_behind(folder, info, lab, time.perf_counter() - begun, simulator)
    if error is not None:
        raise error
    assert not lab.findings.failures, "; ".join(lab.findings.failures)


async def _whole(info: studies.StudyInfo, lab: Lab) -> None:
    await lab.simulation.boot()
    given = faults(lab.text(INJECT), lab.plan.cluster)
    if given:
        Injector(lab.running).inject(given)
    await info.run(lab)
    await lab.simulation.drain()
    if info.design is None and (peak := lab.running.central_queue_peak()):
        lab.metric("central_queue_peak_B", peak)
