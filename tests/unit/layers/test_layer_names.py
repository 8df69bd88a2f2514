"""A message layer is its own folders: no other file names it, and its report data are in them.

Strategy: the sources of the repository are read, not run. Strings and imports are compared with the names of the
layers. The check is tried on a small artificial tree with a layer, in which one file at a time breaks the rule. The
report code is read as text, and must name no layer in prose either. Report data of layers are checked: each stage has
its name once, its sentence can be filled in, and its events are records.
"""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from firmware.layers import names, shown
from firmware.shown import HARDWARE_SHOWN, UNTIL_SEEN
from pymodels.costs.targets import TARGETS, targets_of
from pymodels.hardware.compiled import kinds_of
from pymodels.hardware.discover import nic_kind
from tests.unit.layers.layer_names import offences

ROOT = Path(__file__).parents[3]
LAYERS = sorted(
    {path.parents[1].name for side in TARGETS for path in ROOT.glob(f"firmware/*/{side}/__init__.py")} - {"common"}
)
GENERIC = ("tb/report", "tb/ask", "tb/stuck", "tb/plan", "tb/lab", "pymodels/costs", "firmware/common/nic")
PROSE = re.compile(rf"\b(?:{'|'.join(one.upper() for one in LAYERS if one not in ('echo', 'fifo'))}|grim|tpil)\b")
"""Layers whose names are not searched in prose, because `echo` and `fifo` have other meanings. Strings are searched."""
OWN = {
    "firmware/toy/nic/__init__.py": "NAME = 'toy'",
    "firmware/toy/host/__init__.py": "from firmware.toy.nic import NAME",
    "firmware/toy/formats.py": "from firmware.toy.nic import NAME",
    "tb/studies/toy/toy_pingpong.py": "LAYER = 'toy'",
    "firmware/upper/layer.py": 'LAYER = Layer(name="upper", stands_on=("toy", "other"))',
    "tb/studies/both/fuzz/__init__.py": 'STANDS_ON = ("toy", "other")',
}
WORDS = {"source", "target", "bytes", "way", "answers"}
"""Fields of `make explain`'s sentences."""


def test_only_the_folders_of_a_layer_name_it() -> None:
    assert offences(ROOT, LAYERS) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("tb/a.py", "if layer == 'toy':\n    pass", "tb/a.py:1: names toy"),
        ("pymodels/a.py", "\nLAYERS = ('hardware', 'toy')", "pymodels/a.py:2: names toy"),
        ("tb/report/a.py", "from firmware.toy.formats import HEADER", "tb/report/a.py:1: names toy"),
        ("tb/a.py", "from firmware import toy", "tb/a.py:1: names toy"),
        ("firmware/common/nic/a.py", "import firmware.toy.nic", "firmware/common/nic/a.py:1: names toy"),
        ("firmware/toys/nic/a.py", "PLACE = 'firmware/toy/host/paths.c'", "firmware/toys/nic/a.py:1: names toy"),
        ("tb/a.py", "'''toy'''\nNAMES = ('toys', 'a toy', 'firmware.toys.nic')", None),
        ("tb/a.py", "toy = other.toy", None),
        ("firmware/upper/host/a.py", "from firmware.toy.formats import HEADER", None),
        ("firmware/applications/game/__init__.py", 'STANDS_ON = ("toy",)\nfrom firmware.toy.host import NAME', None),
        ("firmware/applications/game/a.py", "NAME = 'toy'", "firmware/applications/game/a.py:1: names toy"),
        ("firmware/upper/nic/a.py", "NAME = 'toy'", "firmware/upper/nic/a.py:1: names toy"),
        ("tb/studies/toy/fuzz/a.py", "from firmware.toy.host import NAME", None),
        ("tb/studies/both/fuzz/a.py", "from firmware.toy.host import NAME", None),
        ("tb/explore/toys/a.py", "from firmware.toy.host import NAME", "tb/explore/toys/a.py:1: names toy"),
    ],
)
def test_a_file_that_names_a_layer_is_found(tmp_path: Path, file: str, text: str, expected: str | None) -> None:
    for place, content in {**OWN, file: text}.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert offences(tmp_path, ["toy"]) == ([expected] if expected else [])


@pytest.mark.parametrize("place", GENERIC)
def test_report_code_names_no_layer(place: str) -> None:
    files = [path for kind in ("*.py", "*.lua") for path in (ROOT / place).rglob(kind)]
    lines = [(path, line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert [f"{path.relative_to(ROOT)}: {line.strip()}" for path, line in lines if PROSE.search(line)] == []


@pytest.mark.parametrize("layer", names())
def test_stages_of_a_layer_have_unique_names_and_valid_sentences(layer: str) -> None:
    stages = shown(layer).stages
    called = [(one.stage, one.event, one.block) for one in stages]
    assert len({one.stage for one in stages}) == len(called), "a name means one stage"
    assert HARDWARE_SHOWN.stages[1] in stages, "a message is on the wire"
    for one in (*stages, UNTIL_SEEN):
        assert one.side in (0, 1)
        assert {name for _, name, _, _ in string.Formatter().parse(one.sentence) if name} <= WORDS


def test_a_layer_without_report_data_has_the_stages_of_the_hardware() -> None:
    assert shown("") is shown("no_such_layer") is HARDWARE_SHOWN


def test_the_cost_tables_of_a_layer_determine_its_targets(tmp_path: Path) -> None:
    folder = tmp_path / "toy" / "nic"
    folder.mkdir(parents=True)
    first, second = TARGETS["nic"]
    assert targets_of(folder) == (first,), "a new layer is compiled for the first"
    (folder / second.table).touch()
    (folder / first.table).touch()
    assert targets_of(folder) == (first, second)
    assert {nic_kind(kind).target for kind in kinds_of("via")} == set(TARGETS["nic"])
