"""Checks of the Python: lint, format, types, and which way imports go."""

from __future__ import annotations

import sys

from tb.quality.check import Check, complaints, tool
from tb.sim.tools import ROOT

PACKAGES = ("pymodels", "firmware", "tb", "tests")


def _files() -> str:
    return f"{sum(1 for package in PACKAGES for _ in (ROOT / package).rglob('*.py'))} files"


def lint() -> tuple[str, list[str]]:
    """The rules of ruff, from pyproject.toml."""
    return _files(), complaints([tool("ruff"), "check", "--quiet", "--output-format=concise", "."])


def layout() -> tuple[str, list[str]]:
    """Files are laid out as `ruff format` does it."""
    return _files(), complaints([tool("ruff"), "format", "--check", "--quiet", "--output-format=concise", "."])


def types() -> tuple[str, list[str]]:
    """mypy, strict, over everything."""
    return " ".join(PACKAGES), complaints([tool("mypy"), "--no-error-summary", *PACKAGES])


def imports() -> tuple[str, list[str]]:
    """Imports go pymodels <- firmware <- tb <- tests, and only tb meets cocotb."""
    test = "tests/unit/test_import_direction.py"
    return test, complaints([sys.executable, "-m", "pytest", "-q", "--no-header", test])


CHECKS = (
    Check("ruff check", lint),
    Check("ruff format", layout),
    Check("mypy --strict", types),
    Check("import direction", imports),
)
