"""Equality of the instruction set in SystemVerilog with the tables in Python.

Strategy: the committed package is generated again and compared.
"""

from __future__ import annotations

from pymodels.lanai.package import PACKAGE, text


def test_the_committed_package_is_that_of_the_tables() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == text(), "run python -m pymodels.lanai.package --sv"
