"""How do single faults affect the messages of a layer?

Strategy: boot the cluster and open the layer's connections once. Run each fault in a copy of this process, and one copy
without faults as the reference.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from firmware.layers import open_mail, with_mail
from pymodels.trace import TraceEvent
from tb.campaign.defaults import DEFAULTS
from tb.campaign.draw import drawn
from tb.campaign.judge import judge
from tb.campaign.life import Life, Watcher
from tb.campaign.passed import passed
from tb.campaign.work import TASK, Guards, Report, Work, expected
from tb.fuzz.trial import error_text
from tb.lab.apart import apart
from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.plan.faults import Fault, faults
from tb.plan.options import Option
from tb.stuck.watch import look

LAYERS = tuple(with_mail())
CLUSTER = "four_hosts"
OPTIONS = {
    "first": Option(0, "the first seed"),
    "count": Option(10, "number of seeds, one fault each", 1, 1_000_000),
    "kinds": Option("", "kinds of faults to draw from, separated by commas (default: all)"),
    "single": Option("", "single fault to inject, as in fault.inject"),
    "limit_us": Option(15_000, "time limit after the end of the clean run, us", 1, 10**9),
}
FOUND = "faults.json"
"""Result file of a run."""
SEEN = (
    TraceEvent.NIC_DROPPED,
    TraceEvent.NACK_SENT,
    TraceEvent.RESEND,
    TraceEvent.ROLLBACK,
    TraceEvent.TIMEOUT,
    TraceEvent.PARTED,
)


async def run(lab: Lab) -> None:
    """Run the study."""
    campaign = Campaign(lab)
    await campaign.begin()
    clean, life = await campaign.clean()
    lab.check(
        "messages without faults",
        bool(clean.ended_ps) and clean.arrived == campaign.due,
        "wrong, although no fault was injected",
    )
    kinds = [kind for kind in lab.text("kinds").split(",") if kind]
    single = faults(lab.text("single"), lab.plan.cluster)
    first, count = lab.option("first"), lab.option("count")
    found = []
    for seed in range(first, first + (1 if single else count)):
        given = single or [drawn(seed, life, lab.plan.cluster.names, kinds, bool(lab.plan.in_c))]
        ended = await campaign.disturbed(given, clean)
        outcome, why = judge(given[0], clean, ended, campaign.due, lab.plan.cluster)
        text = ",".join(map(str, given))
        found.append({"seed": seed, "fault": text, "outcome": outcome, "why": why, "told": ended.told})
        lab.progress(seed - first + 1, count, "faults")
    (Path(lab.plan.request.folder) / FOUND).write_text(json.dumps(found, indent=1), encoding="utf-8")
    for name, number in sorted(Counter(one["outcome"] for one in found).items()):
        lab.metric(str(name).replace(" ", "_"), number)
    lab.metric("faults", len(found))


class Campaign:
    """Cluster whose process copies get faults."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._guards = Guards()
        self._mails: list[Any] = []
        self.due: list[list[list[str]]] = []

    async def begin(self) -> None:
        """Start the layer and wait until all hosts are ready."""
        lab, layer = self._lab, self._lab.text("layer")
        given = {
            name: value
            for name, value in DEFAULTS.repairs.get(layer, {}).items()
            if f"{layer}.{name}" not in lab.plan.request.settings
        }
        self._guards.place(lab.running.hosts)
        self._mails = [open_mail(layer, library) for library in lab.start_layer(layer, given)]
        self.due = expected(lab.seed, len(self._mails), min(mail.most for mail in self._mails))
        await lab.all([lab.spawn(mail.start(), f"start of {node}") for node, mail in enumerate(self._mails)])
        self._guards.place(lab.running.hosts)

    async def clean(self) -> tuple[Report, Life]:
        """Run without faults; return the report and the activity."""
        work = self._work()

        async def watched() -> Any:
            watcher, records = Watcher(self._lab.running), len(self._lab.running.doorway.trace())
            self._lab.kernel.spawn(watcher.watch(), "activity of the memories")
            report = await work.run(self._limit(0))
            self._complete(report, records)
            life = watcher.end(self._trace(records), self._lab.plan.cluster.topology)
            return [report.plain(), life.plain()]

        answer = await apart(self._lab, watched, lambda error: [Report(died=error_text(error)).plain(), Life().plain()])
        if answer is None:
            raise RuntimeError("the clean run died")
        report, life = Report(**answer[0]), Life(**answer[1])
        self._clean_ps = report.ended_ps
        if not report.ended_ps:
            raise RuntimeError(f"the clean run does not end: {report.died or report.waiting}")
        return report, life

    async def disturbed(self, given: list[Fault], clean: Report) -> Report:
        """Run with faults and return the report."""
        work = self._work()
        injector = Injector(self._lab.running)
        records = len(self._lab.running.doorway.trace())

        async def struck() -> Any:
            injector.inject(given)
            report = await work.run(self._limit(clean.ended_ps))
            self._complete(report, records)
            report.told, report.passed = injector.told, passed(self._lab.running, given[0])
            return report.plain()

        def failed(error: BaseException) -> Any:
            work.look()
            self._complete(work.report, records)
            work.report.died = error_text(error)
            work.report.told = injector.told
            return work.report.plain()

        answer = await apart(self._lab, struck, failed, limits=True)
        return Report(**answer) if answer else Report(arrived=work.report.arrived, died="a loop that never ends")

    def _work(self) -> Work:
        return Work(self._lab.kernel, self._mails, self._guards, self._lab.seed)

    def _limit(self, clean_ps: int) -> int:
        return (clean_ps or self._lab.kernel.now) + self._lab.option("limit_us") * 1_000_000

    def _trace(self, records: int) -> Any:
        trace = self._lab.running.doorway.trace()[records:]
        return trace[trace["time"].argsort(kind="stable")]

    def _complete(self, report: Report, records: int) -> None:
        """Add to the report the observations of firmware and hardware, and the waits of a hang."""
        running, trace = self._lab.running, self._lab.running.doorway.trace()[records:]
        report.seen = {one.name: int((trace["event"] == one).sum()) for one in SEEN}
        report.seen.update(running.invariants.explained)
        report.invariants = running.broken_invariants()
        if not report.ended_ps:
            found = look(self._lab, "hosts wait")
            waiting = self._lab.kernel.waiting()
            not_done = [one for one in waiting if one.endswith(" the CPU") or f": {TASK} waits for " in one]
            report.waiting = [*(str(wait) for wait in (*self._lab.kernel.waits_held(), *found.network)), *not_done]
