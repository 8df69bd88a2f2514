"""The instruction set in SystemVerilog is that of the tables in Python.

Strategy: the committed package is compared with what the tables give.
"""

from __future__ import annotations

from pymodels.lanai.package import PACKAGE, text


def test_the_committed_package_is_that_of_the_tables() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == text(), "run python -m pymodels.lanai.package --sv"
