"""Counts of a layer with parts: omitted parts cost nothing, and a table contains all sets.

Strategy: a small paths.c with two parts is compiled without them and compared with the same code written by hand, on
both NIC processors. Its table is written and read back for every set of parts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels import generated
from pymodels.costs import PathTable, executed
from pymodels.costs import compile as compiler
from pymodels.costs.assembly import CostError
from pymodels.costs.compile import (
    COMPILER,
    compiled,
    compiler_version,
    counts,
    render,
    render_composed,
    render_executed,
)
from pymodels.costs.compositions import composed, declared
from pymodels.costs.targets import LANAI, POWERPC
from tests.unit.costs.test_costs_compositions import layer

PATHS = """#include "paths.h"
static inline void number(u32 *slot) {
#ifdef WITH_ORDER
    SHARED32(slot + 2) = SHARED32(slot + 3);
#endif
}
void send(u32 *slot) {
#ifdef WITH_FLOW
    SHARED32(slot + 4) = 1;
#endif
    number(slot);
    SHARED32(slot) = 1;
}
#ifdef WITH_FLOW
void credit(u32 *slot) { SHARED32(slot + 5) = 0; }
#else
void plain(u32 *slot) { SHARED32(slot + 6) = 0; }
#endif
"""
BYHAND = """#include "paths.h"
void send(u32 *slot) { SHARED32(slot) = 1; }
void plain(u32 *slot) { SHARED32(slot + 6) = 0; }
"""
pytestmark = pytest.mark.skipif(compiler_version() is None, reason=f"{COMPILER} is not installed")


def test_omitted_parts_cost_nothing(tmp_path: Path) -> None:
    folder = layer(tmp_path, 'parts = ["flow", "order"]', paths_c=PATHS)
    by_hand = layer(tmp_path / "hand", "", paths_c=BYHAND)
    for target in (LANAI, POWERPC):
        assert counts(folder, target) == counts(by_hand, target)


def test_a_rendered_table_returns_its_counts(tmp_path: Path) -> None:
    folder = layer(tmp_path, 'parts = ["flow", "order"]', paths_c=PATHS)
    counted = counts(folder, LANAI)
    (folder / "costs.toml").write_text(render(folder, LANAI, counted, "a compiler"), encoding="utf-8")
    generated.keep(folder / "composed.toml", render_composed(folder, LANAI, counted, "a compiler"))
    for parts in declared(folder):
        table = PathTable.load("nic", "toy", tmp_path, composition=parts)
        assert dict(table.paths) == counts(folder, composed(LANAI, parts))
        assert ("credit" in table.paths, "plain" in table.paths) == ("flow" in parts, "flow" not in parts)


def test_a_rendered_table_of_executed_clocks_returns_each_composition(tmp_path: Path) -> None:
    folder = layer(tmp_path, 'parts = ["flow", "order"]', paths_c=PATHS)
    file = folder / executed.TABLE
    file.write_text(render_executed(folder, LANAI, "a compiler"), encoding="utf-8")
    for parts in declared(folder):
        found = executed.read(file, parts)
        for level in executed.LEVELS:
            made = compiled(folder, executed.at_level(composed(LANAI, parts), level))
            assert found[level] == {one.name: executed.taken(one, "paths.c", LANAI) for one in made}
    bare, flow = (executed.read(file, parts)["-O2"] for parts in ((), ("flow",)))
    assert bare.keys() == {"send", "plain"} and flow.keys() == {"send", "credit"}
    with pytest.raises(CostError, match="composition 'flaw': is not compiled in .*; did you mean 'flow'?"):
        executed.read(file, ("flaw",))


def test_a_path_is_shown_for_a_composition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = layer(tmp_path, 'parts = ["flow", "order"]', paths_c=PATHS)
    monkeypatch.setattr(compiler, "layers", lambda: [folder])
    lengths = []
    for asked in ([], ["--composition=flow"], ["--composition=order+flow"]):
        assert compiler.main(["--show", "toy/nic", "send", *asked]) == 0
        lengths.append(len(capsys.readouterr().out.splitlines()))
    assert lengths == sorted(set(lengths))
    assert compiler.main(["--show", "toy/nic", "send", "--composition=flaw"]) == 1
    assert "composition 'flaw': is not compiled for toy/nic; did you mean 'flow'?" in capsys.readouterr().err
