"""Checks of the Python: lint, format, types, the oldest version it must run on, and which way imports go."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tb.quality.check import Check, complaints, tool
from tb.tools.paths import ROOT

PACKAGES = ("pymodels", "firmware", "tb", "tests")
OLDEST = (3, 10)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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


def oldest() -> tuple[str, list[str]]:
    """Every file is Python 3.10: what it imports, types tell; what it says, this check."""
    found = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in too_new(source)]
    return _files(), found


def too_new(source: str) -> list[tuple[int, str]]:
    """Line and complaint of what Python 3.10 does not read: newer grammar, and a comprehension that waits inside
    another one, which the parser of a newer Python does not tell apart.
    """
    try:
        tree = ast.parse(source, feature_version=OLDEST)
    except SyntaxError as error:
        return [(error.lineno or 0, error.msg)]
    inner = (node for outer in ast.walk(tree) if isinstance(outer, COMPREHENSIONS) for node in _inside(outer))
    return sorted((node.lineno, "a comprehension that waits, inside another one") for node in inner if _waits(node))


def _inside(outer: ast.expr) -> Iterator[ast.expr]:
    """The comprehensions in another one, that which it goes through apart: it is computed outside."""
    assert isinstance(outer, COMPREHENSIONS)
    first = set(ast.walk(outer.generators[0].iter))
    return (node for node in ast.walk(outer) if isinstance(node, COMPREHENSIONS) and node not in {outer, *first})


def _waits(node: ast.expr) -> bool:
    """Whether a comprehension awaits something itself, or goes through something asynchronous."""
    return any(isinstance(part, ast.Await) or getattr(part, "is_async", 0) for part in ast.walk(node))


def imports() -> tuple[str, list[str]]:
    """Imports go down in the order of `import_order.toml`, without circles, and only tb meets cocotb."""
    test = "tests/unit/quality/test_import_direction.py"
    return test, complaints([sys.executable, "-m", "pytest", "-q", "--no-header", test])


CHECKS = (
    Check("ruff check", lint),
    Check("ruff format", layout),
    Check("mypy --strict", types),
    Check("python 3.10", oldest),
    Check("import direction", imports),
)
