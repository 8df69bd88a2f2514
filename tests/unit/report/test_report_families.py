"""Curves that share a figure: their names differ in one word, and they have the same points and units.

Strategy: names as studies give them, with made-up points; the titles and the labels of the curves are written by hand.
"""

from __future__ import annotations

from pymodels.results import Series
from tb.report.families import MOST, families

HERE, ELSEWHERE = Series((1, 2), (3, 4), "B", "us"), Series((1, 3), (3, 4), "B", "us")


def told(names: list[str], **others: Series) -> dict[str, list[str]]:
    """Return the titles of the figures, each with its curves; the series of `names` match, those of `others`
    may not.
    """
    series = {**dict.fromkeys(names, HERE), **others}
    return {family.title: list(family.curves) for family in families(series)}


def test_curves_that_differ_in_one_word_share_a_figure() -> None:
    names = ["nic_send_pio", "host_send_pio", "nic_send_dma", "host_send_dma", "both_pio", "both_dma"]
    assert told(names) == {"nic send": ["pio", "dma"], "host send": ["pio", "dma"], "both": ["pio", "dma"]}


def test_the_larger_family_wins() -> None:
    assert told(["a_x", "a_y", "b_x", "c_x"]) == {"x": ["a", "b", "c"], "a y": ["a_y"]}


def test_curves_with_other_points_or_units_get_another_figure() -> None:
    rates = Series((1, 2), (3, 4), "B", "MB/s")
    found = told(["one_way", "one_hop"], one_rate=rates, one_else=ELSEWHERE, none_at_all=Series((), (), "B", "us"))
    assert found == {"one": ["way", "hop"], "one rate": ["one_rate"], "one else": ["one_else"]}


def test_names_of_one_word_and_families_that_are_too_large_stay_apart() -> None:
    assert told(["way", "back"]) == {"way": ["way"], "back": ["back"]}
    many = [f"at_{number}" for number in range(MOST + 1)]
    assert told(many) == {name.replace("_", " "): [name] for name in many}
    assert told(many[:MOST]) == {"at": [str(number) for number in range(MOST)]}
