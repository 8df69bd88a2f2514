"""Named checks of a study: number of evaluations, failures, and the times of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from types import CodeType, FrameType

from pymodels.results import ResultsError
from tb.lab import validation
from tb.tools.lines import called_at, place


@dataclass(slots=True)
class Check:
    """Named check, which a study makes on one line, any number of times.

    Attributes:
        code: Function of the study that makes the check.
        instruction: Offset of the call in the bytecode of that function.
        evaluations: Number of evaluations.
        failures: Text of each failure.
        wall_s: Wall time of the last evaluation, as of `time.perf_counter`.
        sim_ps: Simulated time of the first failure, or else of the last evaluation.
    """

    code: CodeType
    instruction: int
    line: int
    evaluations: int = 0
    failures: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    sim_ps: int = 0

    def require_line(self, name: str, caller: FrameType) -> None:
        """Raise ResultsError unless `caller` makes the check on the same line, which may be compiled twice."""
        if caller.f_code is not self.code or caller.f_lineno != self.line:
            other = place(self.code.co_filename, self.line)
            raise ResultsError(f"{called_at()}: check {name!r}", f"{other} has a check of this name", "rename one")


class Checks(dict[str, Check]):
    """Checks of a study by name, in the order of their first evaluation."""

    def evaluate(self, name: str, holds: object, failure: str, now_ps: int, caller: FrameType) -> str:
        """Record one evaluation and return the text of its failure; empty if the condition holds.

        Args:
            name: Name of the check.
            holds: The condition.
            failure: What is wrong if the condition does not hold.
            now_ps: Simulated time.
            caller: Frame of the study.

        Raises:
            ResultsError: Invalid argument, or a name that another line of the study uses; the message names the line.
        """
        one = self.get(name) if type(name) is str else None
        if one is None:
            one = self[validation.check_name(name)] = Check(caller.f_code, caller.f_lasti, caller.f_lineno)
        elif caller.f_lasti != one.instruction or caller.f_code is not one.code:
            one.require_line(name, caller)
        one.evaluations += 1
        one.wall_s = perf_counter()
        told = "" if holds is True else validation.failure(holds, failure)
        if not one.failures:
            one.sim_ps = now_ps
        if told:
            one.failures.append(told)
        return told
