"""Check that messages arrived exactly once and in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tb.lab.lab import Notebook


def tally(lab: Notebook, arrived: Iterable[tuple[Sequence[int], Sequence[int]]], of: str = "") -> None:
    """Record the numbers of delivered, lost, duplicated and reordered messages; any error fails the run.

    Args:
        lab: the study's lab.
        arrived: for each pair of receiver and sender, the message numbers received, in order of arrival, and the
            numbers expected, ascending.
        of: suffix of the names of the metrics.
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
    lab.check(
        f"messages unexpected{of.replace('_', ' ')}",
        not unexpected,
        f"{unexpected} of {delivered} messages",
    )


def none_of(lab: Notebook, wrong: Mapping[str, int], delivered: int) -> None:
    """Record the number of messages with each kind of error as a metric; any number above 0 fails the run.

    Args:
        lab: the study's lab.
        wrong: number of messages by kind of error, such as `lost`, which is also the name of the metric.
        delivered: number of messages that arrived, for the text of the failure.
    """
    for name, count in wrong.items():
        lab.metric(name, count)
        lab.check(
            f"messages {name.replace('_', ' ')}",
            count == 0,
            f"{count} of {delivered} messages",
        )
