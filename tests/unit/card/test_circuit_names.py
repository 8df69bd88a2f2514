"""Names of circuits in Python: found in roots, rejected at their line, exchanged with circuits in SystemVerilog.

Strategy: a repository with modules of circuits is written into a folder of the test and named by SANLAB_PATH. Circuit
files name its functions, with one mistake each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodels import roots
from pymodels.card.fabric import Circuit, module_text, names, places
from pymodels.card.python import exchanged, load
from pymodels.config import load_cluster
from pymodels.errors import ConfigError, SanlabError
from tests.unit.config.configfiles import error_text, put

CIRCUITS = """
async def edge_detect(slot):
    while True:
        header, words = await slot.receive()
        await slot.send(words)

def plain(slot):
    pass
"""
BROKEN = "import pymodels.card.no_such_module\n"
IMAGE = "video.bit 0 "


@pytest.fixture(name="lab", autouse=True)
def fixture_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a repository with circuits, which is a root during the test."""
    lab = tmp_path / "ownlab"
    (lab / "hdl" / "card").mkdir(parents=True)
    for name, text in (("__init__", ""), ("circuits", CIRCUITS), ("broken", BROKEN), ("syntax", "def")):
        (lab / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv(roots.PATH, str(lab))
    monkeypatch.setattr(sys, "path", [*sys.path])
    roots.roots.cache_clear()
    yield lab
    for name in [name for name in sys.modules if name.partition(".")[0] == "ownlab"]:
        del sys.modules[name]
    roots.roots.cache_clear()


def test_a_circuit_file_names_a_function_of_a_root(tmp_path: Path) -> None:
    cluster = load_cluster(put(tmp_path, circuits=f"{IMAGE}ownlab.circuits:edge_detect\nvideo.bit 1 histogram\n"))
    first = Circuit("video.bit", 0, "edge_detect", "ownlab.circuits:edge_detect")
    assert cluster.circuits == (first, Circuit("video.bit", 1, "histogram"))
    text = module_text(cluster.circuits)
    assert "sim_circuit #(\n      .UNIT (UNIT),\n      .PLACE(0)\n  ) slot0_edge_detect_python0 (" in text
    assert "myri_circuit_histogram slot1_histogram (" in text


MISTAKES = {
    "ownlab.circuit:edge_detect": "circuits:1: circuit 'ownlab.circuit:edge_detect': module ownlab.circuit does not "
    "exist; correct the name, or name the folder of its package in SANLAB_PATH",
    "nolab.circuits:edge_detect": "circuits:1: circuit 'nolab.circuits:edge_detect': module nolab does not "
    "exist; correct the name, or name the folder of its package in SANLAB_PATH",
    "ownlab.circuits:edge_detects": "circuits:1: circuit 'ownlab.circuits:edge_detects': module ownlab.circuits has no "
    "function edge_detects; did you mean 'edge_detect'?",
    "ownlab.circuits:plain": "circuits:1: circuit 'ownlab.circuits:plain': plain of ownlab.circuits is not an async "
    "function; write async def plain(slot)",
    "ownlab.circuits:": "circuits:1: circuit 'ownlab.circuits:': is not a name of a function; write "
    "<module>:<function>",
    "fir16 ownlab.circuits": "circuits:1: circuit 'ownlab.circuits': is not a name of a function; write "
    "<module>:<function>",
    "ownlab.broken:edge": "circuits:1: circuit 'ownlab.broken:edge': its module cannot be imported: "
    "ModuleNotFoundError: No module named 'pymodels.card.no_such_module' (ownlab/broken.py:1); correct the module",
    "ownlab.syntax:edge": "circuits:1: circuit 'ownlab.syntax:edge': its module cannot be imported: "
    "SyntaxError: invalid syntax (syntax.py, line 1) (ownlab/syntax.py:1); correct the module",
    "ownlab.circuits:edge_detect ownlab.circuits:edge_detect": "circuits:1: two circuits in Python: "
    "ownlab.circuits:edge_detect and ownlab.circuits:edge_detect for one slot; remove one",
    "ownlab.circuits:edge_detect\nvideo.bit 1 pymodels.card.prototypes:loopback\nvideo.bit 2 loopback": "circuits:3: "
    "duplicate name 'loopback': another circuit of 'video.bit' is named 'loopback', too; "
    "use another image, or rename the function",
}


@pytest.mark.parametrize("word", MISTAKES)
def test_an_invalid_function_is_rejected_at_its_line(word: str, tmp_path: Path) -> None:
    assert error_text(tmp_path, {"circuits": f"{IMAGE}{word}\n"}) == MISTAKES[word]


def test_one_name_is_one_circuit_in_images_of_both_kinds() -> None:
    both = (Circuit("a", 0, "crc32"), Circuit("b", 0, "crc32", "pymodels.card.prototypes:crc32"))
    assert names(both) == ["crc32"]
    assert places(both) == list(both)
    text = module_text(both)
    assert "assign slot0_crc32_here = images[8*0+:8] == 8'd1;" in text
    assert "assign slot0_crc32_python1_here = images[8*0+:8] == 8'd2;" in text
    assert "if (circuit == 8'd0 && slot0_crc32_python1_here) {here, slot} = {1'b1, 2'd0};" in text


def test_one_setting_exchanges_the_circuits() -> None:
    given = (Circuit("a", 0, "crc32"), Circuit("a", 1, "edge", "", "ownlab.circuits:edge_detect"))
    python = exchanged(given, "python")
    assert [one.python for one in python] == ["pymodels.card.prototypes:crc32", "ownlab.circuits:edge_detect"]
    assert [one.python for one in exchanged(given, "file")] == ["", ""]
    assert [(one.python, one.beside) for one in exchanged(python[:1], "rtl")] == [("", python[0].python)]


def test_a_circuit_without_a_counterpart_is_rejected(lab: Path) -> None:
    with pytest.raises(SanlabError) as failed:
        exchanged([Circuit("a", 0, "edge")], "python")
    assert str(failed.value) == (
        "circuit 'edge': has no circuit in Python beside it; write it in the circuit file: a 0 edge <module>:<function>"
    )
    own = Circuit("a", 0, "edge_detect", "ownlab.circuits:edge_detect")
    with pytest.raises(SanlabError, match=r"write myri_circuit_edge_detect\.sv in hdl/ of your root"):
        exchanged([own], "rtl")
    (lab / "hdl" / "card" / "myri_circuit_edge_detect.sv").write_text("", encoding="utf-8")
    assert not exchanged([own], "rtl")[0].python


def test_a_module_in_the_root_itself_is_found(lab: Path) -> None:
    (lab / "filters_of_mine.py").write_text(CIRCUITS, encoding="utf-8")
    assert load("filters_of_mine:edge_detect").__name__ == "edge_detect"
    del sys.modules["filters_of_mine"]


def test_too_many_circuits_in_slots_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymodels.config.tables.PLACES", 1)
    with pytest.raises(ConfigError, match="too many circuits: the slots of all images hold 1; leave some out"):
        load_cluster(put(tmp_path))
