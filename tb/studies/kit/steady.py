"""Convergence: whether a stream was long enough that its rate no longer depends on its length (paper 001, 3.3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from tb.lab.lab import Lab

METRIC = "second_half_faster_percent"
WITHIN = 5.0
"""Greatest difference from the rate of an endless stream, percent."""


def faster(share: float, at: int, last: int, begun: int, ended: int) -> float:
    """Return by how many percent the rest of a stream arrived faster than all of it.

    Args:
        share: part of the stream that had arrived at the time `at`, from 0 to 1.
        at: a time, ps.
        last: time at which everything had arrived, ps.
        begun: start of the interval in which the whole stream is counted, ps.
        ended: its end, ps.

    Returns:
        Percent; 0 if nothing was left at the time `at`.
    """
    return 100 * ((1 - share) * (ended - begun) / (last - at) - 1) if last > at else 0.0


def tell_steady(lab: Lab, percents: Sequence[float], enough: bool, within: float = WITHIN) -> None:
    """Hand in the worst of some streams. With `enough`, a run in which nothing is disturbed fails above `within`."""
    worst = max(percents, key=abs)
    lab.metric(METRIC, worst)
    disturbed = any(name.startswith("fault.") for name in lab.plan.request.settings)
    if enough and not disturbed:
        cause = f"the rate of the second half of a stream is {worst:+.1f} % off that of the whole"
        lab.check(abs(worst) <= within, f"not converged: {cause}; ask for more messages")
