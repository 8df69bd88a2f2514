"""Checks of the Python code: lint, format, types, oldest version, and import direction."""

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
    """Check the rules of ruff in pyproject.toml."""
    return _files(), complaints([tool("ruff"), "check", "--quiet", "--output-format=concise", "."])


def layout() -> tuple[str, list[str]]:
    """Check the format of `ruff format`."""
    return _files(), complaints([tool("ruff"), "format", "--check", "--quiet", "--output-format=concise", "."])


def types() -> tuple[str, list[str]]:
    """Check all packages with mypy in strict mode."""
    return " ".join(PACKAGES), complaints([tool("mypy"), "--no-error-summary", *PACKAGES])


def oldest() -> tuple[str, list[str]]:
    """Check that every file is valid Python 3.10. Its imports are checked by `types`."""
    found = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in too_new(source)]
    return _files(), found


def too_new(source: str) -> list[tuple[int, str]]:
    """Return line and complaint of constructs that Python 3.10 rejects.

    These are newer grammar, and asynchronous comprehensions inside another comprehension, which a newer parser accepts.
    """
    try:
        tree = ast.parse(source, feature_version=OLDEST)
    except SyntaxError as error:
        return [(error.lineno or 0, error.msg)]
    inner = (node for outer in ast.walk(tree) if isinstance(outer, COMPREHENSIONS) for node in _inside(outer))
    return sorted((node.lineno, "asynchronous comprehension inside another one") for node in inner if _waits(node))


def _inside(outer: ast.expr) -> Iterator[ast.expr]:
    """Yield the comprehensions inside another one, except in its first iterable, which is evaluated outside."""
    assert isinstance(outer, COMPREHENSIONS)
    first = set(ast.walk(outer.generators[0].iter))
    return (node for node in ast.walk(outer) if isinstance(node, COMPREHENSIONS) and node not in {outer, *first})


def _waits(node: ast.expr) -> bool:
    """Return True if a comprehension awaits or iterates asynchronously."""
    return any(isinstance(part, ast.Await) or getattr(part, "is_async", 0) for part in ast.walk(node))


def imports() -> tuple[str, list[str]]:
    """Check that imports follow `import_order.toml` without cycles, and that only tb imports cocotb."""
    test = "tests/unit/quality/test_import_direction.py"
    return test, complaints([sys.executable, "-m", "pytest", "-q", "--no-header", test])


CHECKS = (
    Check("ruff check", lint),
    Check("ruff format", layout),
    Check("mypy --strict", types),
    Check("python 3.10", oldest),
    Check("import direction", imports),
)
