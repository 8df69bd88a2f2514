"""Imports go one way: pymodels <- firmware <- tb <- tests; models, firmware and unit tests know no simulator.

Strategy: every Python file of the repository is parsed, not imported, and each import compared with its own layer.
Imports inside functions, relative ones and `import_module("...")` count too. The checker itself is tried on small
trees that break each rule, so that a passing repository means something.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("pymodels", "firmware", "tb", "tests")
"""Each may import itself and those before it."""
SIMULATOR = ("cocotb", "cocotb_bus", "cocotb_tools", "cocotbext")
WITHOUT_SIMULATOR = ("pymodels", "firmware", "tests/unit")


def imported(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file of `package` imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield node.lineno, ".".join([*base, *filter(None, [node.module])])
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
                yield node.lineno, str(node.args[0].value)


def offences(root: Path) -> list[str]:
    """Every import that goes the wrong way, as `file:line: layer imports module`."""
    found = []
    for path in sorted(p for layer in LAYERS for p in (root / layer).rglob("*.py")):
        place = path.relative_to(root)
        layer = LAYERS.index(place.parts[0])
        quiet = any(place.as_posix().startswith(f"{folder}/") for folder in WITHOUT_SIMULATOR)
        for line, module in imported(ast.parse(path.read_text(encoding="utf-8")), list(place.parts[:-1])):
            top = module.split(".")[0]
            if (top in LAYERS and LAYERS.index(top) > layer) or (quiet and top in SIMULATOR):
                found.append(f"{place.as_posix()}:{line}: {'/'.join(place.parts[:-1])} imports {module}")
    return found


def test_imports_of_the_repository_go_one_way() -> None:
    assert offences(ROOT) == []


def test_there_is_something_to_look_at() -> None:
    assert all(list((ROOT / layer).rglob("*.py")) for layer in LAYERS)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("pymodels/a.py", "import firmware.verbs", "pymodels/a.py:1: pymodels imports firmware.verbs"),
        ("pymodels/b/a.py", "from tb import x", "pymodels/b/a.py:1: pymodels/b imports tb"),
        ("firmware/a.py", "def f():\n    import tb.sim", "firmware/a.py:2: firmware imports tb.sim"),
        ("tb/a.py", "from tests.unit import x", "tb/a.py:1: tb imports tests.unit"),
        ("firmware/a.py", "import cocotb", "firmware/a.py:1: firmware imports cocotb"),
        ("pymodels/a.py", "from cocotb_bus.drivers import X", "pymodels/a.py:1: pymodels imports cocotb_bus.drivers"),
        ("tests/unit/a.py", "from cocotb.triggers import X", "tests/unit/a.py:1: tests/unit imports cocotb.triggers"),
        (
            "firmware/a.py",
            "import importlib\nimportlib.import_module('tb.x')",
            "firmware/a.py:2: firmware imports tb.x",
        ),
        ("firmware/nic/a.py", "from .. import cocotb", None),
        ("tests/block/a.py", "import cocotb\nimport tb.agents", None),
        ("tb/a.py", "import cocotb\nimport firmware.verbs, pymodels.kernel", None),
        ("firmware/a.py", "import pymodels\nimport numpy\nfrom . import verbs", None),
    ],
)
def test_wrong_way_is_found(tmp_path: Path, file: str, text: str, expected: str | None) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert offences(tmp_path) == ([expected] if expected else [])
