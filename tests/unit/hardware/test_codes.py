"""Enumerations with fast member access.

Strategy: an enumeration and its object must give equal results, down to the identity of the members. Every enumeration
that firmware uses is one of the two, depending on the version of Python.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import pytest

from pymodels.codes import Codes, quick
from pymodels.registers import Reg


class Colour(IntEnum):
    """Three codes and another name for one."""

    RED = 1
    GREEN = 2
    BLUE = 4
    AZURE = 4


def test_an_object_behaves_like_its_enumeration() -> None:
    codes: Any = Codes(Colour)
    assert (codes.RED, codes.AZURE) == (Colour.RED, Colour.BLUE) and codes.GREEN is Colour.GREEN
    assert codes(4) is Colour(4) and codes["AZURE"] is Colour["AZURE"]
    assert list(codes) == list(Colour) and len(codes) == len(Colour)
    assert Colour.RED in codes and Reg.ISR not in codes
    assert (codes.__name__, codes.__doc__, codes.__members__) == ("Colour", Colour.__doc__, Colour.__members__)


def test_an_unknown_code_raises_the_same_error() -> None:
    codes: Any = Codes(Colour)
    with pytest.raises(ValueError, match="3 is not a valid Colour"):
        codes(3)
    with pytest.raises(KeyError, match="PINK"):
        codes["PINK"]
    with pytest.raises(AttributeError, match="PINK"):
        assert codes.PINK


def test_only_old_python_versions_use_the_object() -> None:
    assert (quick(Colour) is Colour) == (sys.version_info >= (3, 12)) == isinstance(Reg, type)
