"""What became of messages that should arrive exactly once and in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tb.lab.lab import Notebook


def tally(lab: Notebook, arrived: Iterable[tuple[Sequence[int], Sequence[int]]], of: str = "") -> None:
    """Hand in how many messages were delivered, lost, doubled and out of order; any mistake fails the run.

    Args:
        lab: the study's lab.
        arrived: by endpoint and sender, the numbers that arrived, in the order of arrival, and those that had to,
            rising.
        of: end of the names of the metrics.
    """
    pairs = [(list(got), set(due)) for got, due in arrived]
    delivered = sum(len(got) for got, _ in pairs)
    lab.metric(f"delivered{of}", delivered)
    wrong = {
        "lost": sum(len(due - set(got)) for got, due in pairs),
        "doubled": sum(len(got) - len(set(got)) for got, _ in pairs),
        "out_of_order": sum(a > b for got, _ in pairs for a, b in pairwise(got)),
    }
    none_of(lab, {f"{name}{of}": count for name, count in wrong.items()}, delivered)
    unexpected = sum(len(set(got) - due) for got, due in pairs)
    lab.check(not unexpected, f"{unexpected} of {delivered} messages: unexpected{of.replace('_', ' ')}")


def none_of(lab: Notebook, wrong: Mapping[str, int], delivered: int) -> None:
    """Hand in the number of messages of each mistake, as a metric of its name; any mistake fails the run.

    Args:
        lab: the study's lab.
        wrong: number of messages by mistake, such as `lost`.
        delivered: number of messages that arrived, for the sentence of the failure.
    """
    for name, count in wrong.items():
        lab.metric(name, count)
        lab.check(count == 0, f"{count} of {delivered} messages: {name.replace('_', ' ')}")
