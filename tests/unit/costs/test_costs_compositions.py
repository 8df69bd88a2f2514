"""Compositions of a layer: sets of parts, their cost tables, missing paths.

Strategy: a table with three compositions is written by hand and read for each; paths that a composition lacks are
requested. `tests/tools/test_costs_composed.py` compiles compositions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs import CostError, PathTable
from pymodels.costs.compositions import FILE, declared, key
from pymodels.costs.sources import fingerprint
from pymodels.costs.targets import LANAI
from pymodels.costs.walk import PathCost

TABLE = """[compiled]
origin = "compiled"
[path]
send = { instructions = 4 }
plain = { instructions = 2 }
[composition."flow"]
lacks = []
[composition."flow".path]
send = { instructions = 9 }
credit = { instructions = 3 }
[composition."flow+order"]
lacks = ["plain"]
[composition."flow+order".path]
send = { instructions = 15 }
"""
PATHS = "void send(void) {}\n"


def layer(root: Path, parts: str, **files: str) -> Path:
    """Create the NIC-side folder of a layer."""
    folder = root / "toy" / "nic"
    folder.mkdir(parents=True)
    for name, text in {FILE: parts, **{name.replace("_", "."): text for name, text in files.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_each_composition_has_its_costs(tmp_path: Path) -> None:
    layer(tmp_path, "", costs_toml=TABLE)
    bare, flow, both = (
        PathTable.load("nic", "toy", tmp_path, composition=parts) for parts in ((), ("flow",), ("order", "flow"))
    )
    assert dict(bare.paths) == {"send": PathCost(4), "plain": PathCost(2)}
    assert dict(flow.paths) == {"send": PathCost(9), "plain": PathCost(2), "credit": PathCost(3)}
    assert dict(both.paths) == {"send": PathCost(15)}


def test_a_path_that_a_composition_lacks_is_an_error_when_used(tmp_path: Path) -> None:
    layer(tmp_path, "", costs_toml=TABLE)
    with pytest.raises(CostError) as error:
        PathTable.load("nic", "toy", tmp_path).cost("credit")
    assert str(error.value) == (
        "path 'credit': toy/nic lacks it, composed of nothing; compose it as flow, which has the path"
    )
    with pytest.raises(CostError, match=r"path 'plain': toy/nic lacks it, composed of flow\+order; "):
        PathTable.load("nic", "toy", tmp_path, composition=("flow", "order")).cost("plain")


def test_a_composition_that_is_not_compiled_names_the_nearest(tmp_path: Path) -> None:
    layer(tmp_path, "", costs_toml=TABLE)
    with pytest.raises(CostError) as error:
        PathTable.load("nic", "toy", tmp_path, composition=("flaw",))
    assert str(error.value) == "composition 'flaw': is not compiled for toy/nic; did you mean 'flow'?"


def test_a_table_without_compositions_applies_to_every_composition(tmp_path: Path) -> None:
    layer(tmp_path, "", costs_toml=TABLE.partition("[composition")[0])
    assert PathTable.load("nic", "toy", tmp_path, composition=("flow",)).cost("send") == PathCost(4)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('parts = ["b", "a"]', ["", "a", "b", "a+b"]),
        ('parts = ["a", "b", "c", "d"]\nsets = [["d", "a"], ["a", "d"]]', ["", "a+d"]),
        ('parts = ["a", "b", "c", "d", "e"]', ["", "a", "b", "c", "d", "e", "a+b+c+d+e"]),
    ],
)
def test_all_sets_of_few_parts_and_some_sets_of_many_are_compiled(tmp_path: Path, text: str, names: list[str]) -> None:
    assert [key(one) for one in declared(layer(tmp_path, text))] == names


def test_parts_that_are_found_are_compiled_alone_in_pairs_and_all_together(tmp_path: Path) -> None:
    folder = layer(tmp_path, 'found = "protocols"\nparts = ["z"]\nfull = ["a", "b", "c"]')
    (folder / "protocols").mkdir()
    for name in "abcd":
        (folder / "protocols" / f"{name}.h").touch()
    pairs = ["a+b", "a+c", "a+d", "b+c", "b+d", "c+d"]
    assert [key(one) for one in declared(folder)] == ["", "a", "b", "c", "d", "z", *pairs, "a+b+c", "a+b+c+d"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is not a valid name of a part"),
        ('parts = ["A"]', "'A' is not a valid name of a part"),
        ('parts = ["flow"]\nsets = [["flaw"]]', "a set contains 'flaw', which is not a part; did you mean 'flow'?"),
    ],
)
def test_an_invalid_declaration_is_rejected(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CostError, match=said):
        declared(layer(tmp_path, text))


def test_the_fingerprint_follows_the_parts(tmp_path: Path) -> None:
    folder = layer(tmp_path, 'parts = ["a"]', paths_c=PATHS)
    before = fingerprint(folder, LANAI)
    (folder / FILE).write_text('parts = ["a", "b"]', encoding="utf-8")
    assert fingerprint(folder, LANAI) != before
