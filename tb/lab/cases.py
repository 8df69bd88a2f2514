"""Test cases of a run: the run itself, each named check, each invariant, and the requested published values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pymodels.published import ANY, Published, judged
from pymodels.results import ResultsError
from tb.lab.lab import Lab
from tb.plan.request import PUBLISHED
from tb.plan.studies import StudyInfo
from tb.report.junit import FILE, RUN, UNFINISHED, Case, write_cases

Invariants = Mapping[str, tuple[Sequence[str], int]]


class RunCases:
    """Writer of `results.xml` for one run.

    Args:
        folder: Folder of the run.
        info: Study.
        lab: Lab of the study.
        begun: Wall time at which the run began, as of `time.perf_counter`.
    """

    def __init__(self, folder: Path, info: StudyInfo, lab: Lab, begun: float) -> None:
        self._file, self._info, self._lab, self._begun = folder / FILE, info, lab, begun

    def note(self) -> None:
        """Write the checks made so far, and what the run waits for, in case the simulator is killed.

        The watchdog calls this method in its own thread.
        """
        lab = self._lab
        with suppress(RuntimeError, AttributeError, ResultsError):  # the main thread changes the tasks meanwhile
            waits, now = "; ".join(lab.kernel.waiting()) or "no task is waiting", lab.kernel.now
            checks = list(self._checks())
            text = f"the run had not ended at {now / 1e6:.3f} us of simulated time: {waits}"
            run = Case(RUN, wall_s=self._rest(checks), sim_ps=now, failures=(text,), error=UNFINISHED)
            self._write([run, *checks], durable=False)

    def disagreements(self) -> list[str]:
        """Return the failures of the comparison with published values, if the run requests it (`run.published`)."""
        return [f"published {case.name}: {line}" for case in self._published() for line in case.failures]

    def finish(self, error: BaseException | None, lines: list[str], invariants: Invariants) -> None:
        """Write all cases of the run. Raises ResultsError if writing fails.

        Args:
            error: Exception that ended the study, or None.
            lines: Its description, and the reported cycles of waits.
            invariants: Descriptions of unexplained violations, and the number of explained ones, by invariant.
        """
        checks = list(self._checks())
        now, kind = self._lab.kernel.now, type(error).__name__ if error else ""
        run = Case(RUN, wall_s=self._rest(checks), sim_ps=now, failures=tuple(lines), error=kind)
        self._write([run, *checks, *self._invariants(invariants), *self._published()])

    def _write(self, cases: list[Case], durable: bool = True) -> None:
        plan = self._lab.plan
        told = {"simulator": self._lab.place, "seed": plan.request.seed, "profile": plan.profile.name}
        told["settings"] = " ".join(f"{key}={value}" for key, value in plan.request.settings.items())
        write_cases(self._file, self._info.name, cases, told, durable=durable)

    def _rest(self, checks: list[Case]) -> float:
        """Return the wall time in s since the last check, so that the times of all cases add up to the run's."""
        return max(0.0, time.perf_counter() - self._begun - sum(check.wall_s for check in checks))

    def _checks(self) -> Iterator[Case]:
        """Yield the checks in the order of their last evaluations. Each has the wall time since the one before."""
        before = self._begun
        for name, one in sorted(self._lab.findings.checks.items(), key=lambda item: item[1].wall_s):
            note = f"evaluations: {one.evaluations}"
            yield Case(name, "checks", max(0.0, one.wall_s - before), one.sim_ps, tuple(one.failures), note=note)
            before = one.wall_s

    def _invariants(self, invariants: Invariants) -> Iterator[Case]:
        for name, (broken, explained) in invariants.items():
            note = f"explained by injected faults or the study: {explained}" if explained else ""
            yield Case(name, "invariants", sim_ps=self._lab.kernel.now, failures=tuple(broken), note=note)

    def _published(self) -> Iterator[Case]:
        lab, found = self._lab, self._lab.findings.metrics
        for row in judged(self._info.name) if lab.option(PUBLISHED) else ():
            if row.profile not in (lab.plan.profile.name, ANY):
                continue
            failures = (told,) if (told := _disagreement(row, found.get(row.metric))) else ()
            yield Case(row.name, "published", sim_ps=lab.kernel.now, failures=failures, note=row.source)


def _disagreement(row: Published, measured: float | None) -> str:
    if measured is None:
        return f"the run has not measured {row.metric}; request the settings under which the study does"
    if row.agrees(measured):
        return ""
    due = f"{row.within[0]:g} to {row.within[1]:g}" if isinstance(row.within, list) else f"within {row.within:.0%}"
    return f"measured {measured:g}, published {row.value:g} {row.unit} ({row.source}); required: {due}"
