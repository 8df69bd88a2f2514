"""Whether a stream was long enough that its rate is no longer a matter of its length, as paper 001, 3.3.3 asks.

What comes once a stream (the first message on its way, the answer to the last) is part of a rate that counts from the
first send to the end. So the second half of the messages flows faster than the whole, the less the longer the stream.
A study tells by how much, and a run with at least as many messages as its figures were measured with is checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb.lab.lab import Lab

METRIC = "second_half_faster_percent"
WITHIN = 5.0
"""Percent; a rate is that near to the one of an endless stream, or nearer."""


def faster(share: float, at: int, last: int, begun: int, ended: int) -> float:
    """By how many percent the rest of a stream came faster than all of it between two times, ps: a share of it had come
    `at` a time, and everything at `last`. 0 where nothing was left.
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
