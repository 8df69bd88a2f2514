"""Rewriting of a Verilated model's code: the evaluation of a clock's need stops at the first condition that holds.

Strategy: assignments as Verilator writes them, with brackets around single conditions, around several and around all,
and with `|` between the bits of a word; the resulting text is evaluated for all values of its names.
"""

from __future__ import annotations

import re
from itertools import product

import pytest

from tb.build.domains import AWAKE, _stopping


def assignment(needs: str) -> str:
    return f"    vlSelfRef.wants_1 = (({needs} << 0x0000001fU) | (IData)(vlSelfRef.low));"


def value(cpp: str, names: dict[str, int]) -> int:
    """Evaluate the right side of an assignment. Its operators are those of Python except for casts, `||` and
    the suffix `U`.
    """
    text = re.sub(r"\(IData\)|vlSelfRef\.|(?<=[0-9a-f])U", "", cpp.split("=", 1)[1].rstrip(";"))
    return int(eval(text.replace("||", " or ").strip(), {}, names)) & 0xFFFFFFFF  # noqa: S307


@pytest.mark.parametrize(
    ("needs", "conditions"),
    [
        ("((IData)(vlSelfRef.a) | (IData)(vlSelfRef.b))", 2),
        ("((IData)(vlSelfRef.a) | (((IData)(vlSelfRef.b) & (IData)(vlSelfRef.c)) | (IData)(vlSelfRef.d)))", 3),
        ("(((IData)(vlSelfRef.a) | (IData)(vlSelfRef.b)) & ((IData)(vlSelfRef.c) | (IData)(vlSelfRef.d)))", 1),
        ("((2U | (IData)(vlSelfRef.a)) | (IData)(vlSelfRef.b))", 3),
    ],
)
def test_a_clock_enable_keeps_its_value_with_short_circuit_evaluation(needs: str, conditions: int) -> None:
    before = assignment(needs)
    after = AWAKE.sub(_stopping, before)
    assert after.count("(1U & (") == conditions
    for bits in product((0, 1), repeat=4):
        names = dict(zip("abcd", bits, strict=True)) | {"low": 5}
        assert value(after, names) == value(before, names)


def test_unexpected_text_is_not_rewritten() -> None:
    text = assignment("((IData)(vlSelfRef.a) | ((IData)(vlSelfRef.b) << 0x0000001fU))")
    assert AWAKE.sub(_stopping, text) == text
