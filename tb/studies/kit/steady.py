"""Convergence of streams: check that the rate no longer depends on the length (paper 001, 3.3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from tb.lab.lab import Lab

METRIC = "second_half_faster_percent"
WITHIN = 5.0
"""Largest accepted difference between the rates of the second half and of the whole stream, percent."""


def faster(share: float, at: int, last: int, begun: int, ended: int) -> float:
    """Return by how many percent the rate of the rest of a stream exceeds the rate of the whole.

    Args:
        share: share of the stream that had arrived at the time `at`, from 0 to 1.
        at: end of the first part, ps.
        last: time at which everything had arrived, ps.
        begun: start of the interval of the whole stream, ps.
        ended: end of that interval, ps.

    Returns:
        Percent; 0 if everything had arrived at the time `at`.
    """
    return 100 * ((1 - share) * (ended - begun) / (last - at) - 1) if last > at else 0.0


def tell_steady(lab: Lab, percents: Sequence[float], enough: bool, within: float = WITHIN) -> None:
    """Record the worst difference of some streams as a metric.

    Args:
        lab: the study's lab.
        percents: results of `faster` for the streams.
        enough: True to fail the run above `within`, unless a `fault.*` setting disturbs it.
        within: largest accepted difference, percent.
    """
    worst = max(percents, key=abs)
    lab.metric(METRIC, worst)
    disturbed = any(name.startswith("fault.") for name in lab.plan.request.settings)
    if enough and not disturbed:
        cause = f"the rate of a stream's second half differs by {worst:+.1f} % from the whole"
        lab.check("steady rate", abs(worst) <= within, f"not converged: {cause}; set more messages")
