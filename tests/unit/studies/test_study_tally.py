"""Tally of the messages that arrived in a study: each kind of mistake has its own count and fails the run.

Strategy: the numbers that arrived are written by hand, correct or with one mistake of each kind. A substitute for the
lab keeps the recorded results.
"""

from __future__ import annotations

from typing import Any

import pytest

from tb.studies.kit.arrivals import tally


class Kept:
    """The part of a lab that takes metrics and checks."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.failures: list[str] = []

    def metric(self, name: str, value: float) -> None:
        self.metrics[name] = value

    def check(self, name: str, holds: bool, failure: str) -> None:
        self.failures += [] if holds else [f"{name}: {failure}"]


def handed_in(*arrived: tuple[list[int], list[int]]) -> Kept:
    kept: Any = Kept()
    tally(kept, arrived, "_here")
    assert isinstance(kept, Kept)
    return kept


def test_correct_messages_are_no_failure() -> None:
    kept = handed_in(([0, 1, 2], [0, 1, 2]), ([], []), ([5, 9], [5, 9]))
    assert kept.metrics == {"delivered_here": 5, "lost_here": 0, "doubled_here": 0, "out_of_order_here": 0}
    assert kept.failures == []


@pytest.mark.parametrize(
    ("got", "kind"),
    [([0, 2], "lost"), ([0, 1, 1, 2], "doubled"), ([0, 2, 1], "out_of_order"), ([0, 1, 2, 7], "unexpected")],
)
def test_each_error_is_counted_by_kind(got: list[int], kind: str) -> None:
    kept = handed_in(([0, 1], [0, 1]), (got, [0, 1, 2]))
    wrong = {name.removesuffix("_here"): count for name, count in kept.metrics.items() if "delivered" not in name}
    assert {name for name, count in wrong.items() if count} == {kind} - {"unexpected"}
    assert kept.failures == [f"messages {kind.replace('_', ' ')} here: 1 of {2 + len(got)} messages"]
