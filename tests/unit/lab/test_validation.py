"""Results that are nonsense fail where they are handed in, and the message names the line of the study.

Strategy: every kind of wrong value for a metric, a series, a unit, a name and a check; the numbers of Python and numpy
that are right must come out as plain numbers of Python.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pymodels.results import ResultsError
from tb.lab import validation


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1.0", "metric 'm': not a number: it is '1.0' of type str; report a number"),
        (None, "not a number: it is None of type NoneType"),
        (True, "not a number: it is True of type bool; report int(...)"),
        (np.bool_(True), "not a number: it is True of type bool; report int(...)"),
        (1j, "not a number: it is 1j of type complex"),
        (np.complex128(1), "type complex"),
        ([1.0], "not a number: it is [1.0] of type list"),
        (np.array([1.0, 2.0]), "of type ndarray"),
        (np.datetime64("2001-01-01"), "of type date"),
        (float("nan"), "metric 'm': not finite: it is nan; leave the value out"),
        (float("inf"), "not finite: it is inf"),
        (np.float32("-inf"), "not finite: it is -inf"),
        (Decimal("NaN"), "not finite: it is nan"),
        (10**400, "not finite: it is inf"),
        ("\x1b[31m" * 100, "\\x1b[31m"),
    ],
)
def test_a_metric_that_is_not_a_finite_number_is_rejected_with_the_line(value: Any, said: str) -> None:
    with pytest.raises(ResultsError) as error:
        validation.metric("m", value)
    assert said in str(error.value)
    assert str(error.value).startswith("tests/unit/lab/test_validation.py:")
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [(3, 3), (2.5, 2.5), (np.int64(3), 3), (np.uint8(3), 3), (np.float32(0.5), 0.5), (np.array(2.5), 2.5),
     (Fraction(1, 2), 0.5), (Decimal("0.5"), 0.5), (10**30, 10**30)],
)  # fmt: skip
def test_every_real_number_becomes_a_plain_one(value: Any, plain: float) -> None:
    name, number = validation.metric("m", value)
    assert (name, number, type(number)) == ("m", plain, type(plain))
    assert json.loads(json.dumps(number)) == plain


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("s", [1, 2, 3], [1, 2], "B", "us"), "series 's': lengths differ: x has 3 values, y has 2"),
        (("s", [1, float("nan")], [1, 2], "B", "us"), "series 's': x[1]: not finite: it is nan"),
        (("s", [1, 2], [1, "2"], "B", "us"), "series 's': y[1]: not a number: it is '2' of type str"),
        (("s", [1, 2], [True, 2], "B", "us"), "series 's': y[0]: not a number: it is True of type bool"),
        (("s", "12", [1, 2], "B", "us"), "series 's': x: not a sequence of numbers: it is '12' of type str"),
        (("s", 1, 2, "B", "us"), "series 's': x: not a sequence of numbers: it is 1 of type int"),
        (("s", np.ones((2, 2)), [1, 2], "B", "us"), "series 's': x[0]: not a number: it is array("),
        (("s", [1], [2], 3, "us"), "series 's': x_unit: not text: it is 3 of type int"),
        (("s", [1], [2], "B", None), "series 's': y_unit: not text: it is None of type NoneType"),
        ((5, [1], [2], "B", "us"), "name of a series: not text: it is 5 of type int"),
        (("", [1], [2], "B", "us"), "name of a series: not printable: ''"),
        (("a\nb", [1], [2], "B", "us"), "name of a series: not printable: 'a\\nb'"),
    ],
)
def test_an_invalid_series_is_rejected_with_the_line(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ResultsError) as error:
        validation.series(*arguments)
    assert said in str(error.value)
    assert str(error.value).startswith("tests/unit/lab/test_validation.py:")


def test_a_series_of_arrays_becomes_one_of_plain_numbers() -> None:
    name, points = validation.series("s", np.arange(3), np.array([0.5, 1, 2], np.float32), "B", "us")
    assert (name, points.x, points.y) == ("s", (0, 1, 2), (0.5, 1.0, 2.0))
    assert {type(value) for value in (*points.x, *points.y)} == {int, float}
    assert validation.series("empty", (), (), "B", "us")[1].x == ()
    assert validation.series("range", range(2), iter([1, 2]), "B", "us")[1].y == (1, 2)


def test_a_check_needs_a_truth_value_and_a_text() -> None:
    assert validation.failure(np.bool_(True), "wrong") == ""
    assert validation.failure(0, "wrong") == "wrong"
    assert validation.failure(False, "") == "does not hold"
    with pytest.raises(ResultsError, match="check: not a truth value: it is array"):
        validation.failure(np.array([True, False]), "wrong")
    with pytest.raises(ResultsError, match="check: failure: not text: it is 5 of type int"):
        validation.failure(False, 5)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (True, "name of a check: not text: it is True of type bool; write lab.check"),
        ("", "name of a check: not printable: ''"),
        ("two\nlines", "name of a check: not printable"),
    ],
)
def test_an_invalid_name_of_a_check_is_rejected(name: object, said: str) -> None:
    with pytest.raises(ResultsError, match=said):
        validation.check_name(name)
