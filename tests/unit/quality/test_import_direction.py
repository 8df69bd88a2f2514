"""Imports go one way: pymodels <- firmware <- tb <- tests, inside these folder by folder, in some file by
file, acyclic.

Strategy: every Python file of the repository is parsed, not imported, and each import compared with the written order,
`import_order.toml`. Imports inside functions, under TYPE_CHECKING, relative ones and `import_module("...")` count too.
Models, firmware and unit tests import no simulator, directly or indirectly. Studies are loaded by name, which the
source does not show: therefore all are imported in an environment without cocotb. The checker itself is tested on small
trees that break each rule.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from pymodels.toml import read_toml
from tests.unit.quality.imports import FileOrder, Order, Sources, circles, way

ROOT = Path(__file__).parents[3]
TABLE, TEXT = read_toml(Path(__file__).with_name("import_order.toml"))
ORDER = Order.of(TABLE)
SIMULATOR = ("cocotb", "cocotb_bus", "cocotb_tools", "cocotbext")
WITHOUT_SIMULATOR = ("pymodels.", "firmware.", "tests.unit.")
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({SIMULATOR}))
from tb.plan import studies
for name in studies.names():
    studies.load(name)
"""
"""A program that loads all studies, to which the simulator's packages are missing."""


@cache
def here() -> Sources:
    """Return the modules of the repository."""
    return Sources.below(ROOT, ORDER.tops)


def test_imports_follow_the_order_of_packages() -> None:
    assert ORDER.offences(here()) == []


@pytest.mark.parametrize("order", FileOrder.of(TABLE), ids=lambda order: order.folder)
def test_imports_follow_the_order_of_files_in_a_folder(order: FileOrder) -> None:
    assert order.offences(here()) == []


def test_import_cycles_are_known_ones_only() -> None:
    assert circles(here().graph) == sorted(sorted(circle) for circle in TABLE["circles"])


def test_models_firmware_and_unit_tests_import_no_simulator() -> None:
    quiet = [name for name in here().files if name.startswith(WITHOUT_SIMULATOR)]
    assert [" -> ".join(found) for name in quiet if (found := way(here(), name, SIMULATOR))] == []


def test_studies_load_without_a_simulator() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, encoding="utf-8", capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_the_page_prints_the_order() -> None:
    lines = "\n".join(TABLE["tb"])
    assert f"```\n{lines}\n```" in (ROOT / "tb" / "README.md").read_text(encoding="utf-8")


def test_the_checked_files_exist() -> None:
    assert all(any(name.startswith(f"{top}.") for name in here().files) for top in ORDER.tops)
    named = {f"{top}/{folder}" for top, lines in ORDER.lines.items() for line in lines for folder in line}
    found = {place[2] for name in here().files if (place := ORDER.place(here().place(name)))}
    assert {name.partition("/+")[0] for name in named if "*" not in name} <= found


def sources(root: Path, files: dict[str, str]) -> Sources:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Sources.below(root, ORDER.tops)


SMALL = Order.of(
    {
        "tops": ["pymodels", "firmware", "tb", "tests"],
        "firmware": [".", "common/nic", "*/+nic", "*/host", "*/mail.py"],
        "tb": ["plan sim", "lab"],
    }
)
TREE = {
    "pymodels/kernel.py": "",
    "firmware/verbs.py": "",
    "firmware/common/nic/card.py": "",
    "firmware/echo/nic/queues/a.py": "",
    "firmware/echo/host/a.py": "",
    "firmware/echo/mail.py": "",
    "firmware/grim/nic/a.py": "",
    "tb/plan/a.py": "",
    "tb/sim/a.py": "",
    "tb/lab/a.py": "",
    "tests/unit/a.py": "",
}


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("pymodels/b.py", "import firmware.verbs", "pymodels/b.py:1: pymodels imports firmware.verbs"),
        ("pymodels/b.py", "from firmware import verbs", "pymodels/b.py:1: pymodels imports firmware.verbs"),
        ("tb/plan/b.py", "def f():\n    import tb.lab.a", "tb/plan/b.py:2: tb/plan imports tb.lab.a"),
        ("tb/plan/b.py", "if TYPE_CHECKING:\n    import tb.lab.a", "tb/plan/b.py:2: tb/plan imports tb.lab.a"),
        ("tb/plan/b.py", "from ..lab import a", "tb/plan/b.py:1: tb/plan imports tb.lab.a"),
        ("tb/plan/b.py", "importlib.import_module('tb.lab.a')", "tb/plan/b.py:1: tb/plan imports tb.lab.a"),
        ("tb/plan/b.py", "import tb.sim.a", "tb/plan/b.py:1: tb/plan imports tb.sim.a"),
        ("tb/lab/b.py", "import tests.unit.a", "tb/lab/b.py:1: tb/lab imports tests.unit.a"),
        ("tb/b.py", "import tb.sim.a", "tb/b.py:1: stands in no folder of the order"),
        (
            "firmware/common/nic/b.py",
            "import firmware.grim.nic.a",
            "firmware/common/nic/b.py:1: firmware/common/nic imports firmware.grim.nic.a",
        ),
        (
            "firmware/grim/nic/b.py",
            "import firmware.echo.nic.queues.a",
            "firmware/grim/nic/b.py:1: firmware/grim imports firmware.echo.nic.queues.a",
        ),
        ("firmware/echo/nic/b.py", "from .queues import a\nimport firmware.common.nic.card", None),
        ("firmware/echo/b.py", "import firmware.echo.nic.queues.a", None),
        (
            "firmware/echo/b.py",
            "import firmware.echo.host.a",
            "firmware/echo/b.py:1: firmware/echo imports firmware.echo.host.a",
        ),
        ("firmware/echo/mail.py", "import firmware.echo.host.a, firmware.echo.nic.queues.a", None),
        (
            "firmware/echo/host/b.py",
            "import firmware.echo.mail",
            "firmware/echo/host/b.py:1: firmware/echo/host imports firmware.echo.mail",
        ),
        ("tb/lab/b.py", "import numpy, tb.sim.a, firmware.verbs\nfrom tb.plan import a", None),
        ("tb/lab/__init__.py", "from . import a", None),
        ("tests/unit/b.py", "import tb.lab.a", None),
    ],
)
def test_an_import_against_the_order_is_found(tmp_path: Path, file: str, text: str, expected: str | None) -> None:
    found = SMALL.offences(sources(tmp_path, {**TREE, file: text}))
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a": "", "b": "import firmware.nic.x.a", "c": "from firmware.nic.x import a"}, []),
        ({"a": "", "b": "", "c": "import firmware.nic.x.b"}, ["firmware/nic/x/c.py:1: c imports b"]),
        ({"a": "import firmware.nic.x.b", "b": "", "c": ""}, ["firmware/nic/x/a.py:1: a imports b"]),
        ({"a": "", "b": "def f():\n    from . import c", "c": ""}, ["firmware/nic/x/b.py:2: b imports c"]),
        (
            {"a": "", "b": "", "d": ""},
            [
                "firmware/nic/x/c.py:1: is named in the order, and is not there",
                "firmware/nic/x/d.py:1: stands in no line of the order of its folder",
            ],
        ),
    ],
)
def test_files_out_of_their_order_are_found(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    (order,) = FileOrder.of({"files": {"firmware/nic/x": ["a", "b c"]}})
    found = order.offences(sources(tmp_path, {f"firmware/nic/x/{name}.py": text for name, text in files.items()}))
    assert found == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("from tb.b import x", "import tb.c", ""), []),
        (("from tb.b import x", "import tb.c", "import tb.a"), [["tb.a", "tb.b", "tb.c"]]),
        (("from tb import b", "if TYPE_CHECKING:\n    from tb.a import X", "import tb.a"), [["tb.a", "tb.b"]]),
        (("", "def f():\n    from . import c", "import tb.b"), [["tb.b", "tb.c"]]),
    ],
)
def test_import_cycles_are_found(tmp_path: Path, texts: tuple[str, str, str], expected: list[list[str]]) -> None:
    files = {f"tb/{name}.py": text for name, text in zip("abc", texts, strict=True)}
    assert circles(sources(tmp_path, files).graph) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests/unit/a.py": "from cocotb.triggers import X"}, ["tests.unit.a", "cocotb.triggers"]),
        ({"tests/unit/a.py": "import tb.b", "tb/b.py": "import cocotb"}, ["tests.unit.a", "tb.b", "cocotb"]),
        (
            {"tests/unit/a.py": "import tb.b.c", "tb/b/c.py": "", "tb/b/__init__.py": "import cocotb_bus"},
            ["tests.unit.a", "tb.b.c", "tb.b", "cocotb_bus"],
        ),
        ({"tests/unit/a.py": "import tb.b", "tb/b.py": "import json", "tb/c.py": "import cocotb"}, []),
    ],
)
def test_an_indirect_import_of_a_simulator_is_found(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert way(sources(tmp_path, files), "tests.unit.a", SIMULATOR) == expected
