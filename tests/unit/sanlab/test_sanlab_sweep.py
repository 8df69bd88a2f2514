"""`sanlab.sweep`: the words that the command gets, the table that the caller gets, and the errors between.

Strategy: the child process is replaced by a function that notes its words and leaves a table, or ends with a code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tb import sanlab
from tb.sanlab import sweeping
from tb.sanlab.child import Ended


class Child:
    """A command that leaves a table and ends with a code."""

    def __init__(self, code: int = 0, leaves: bool = True) -> None:
        self.words: list[str] = []
        self._code, self._leaves = code, leaves

    def __call__(self, words: list[str]) -> Ended:
        self.words = words
        folder = Path(next(word for word in words if word.startswith("--out=")).removeprefix("--out="))
        if self._leaves:
            folder.mkdir(exist_ok=True)
            pq.write_table(pa.table({"hosts": [2, 4], "us": [1.0, 2.0]}), folder / "points.parquet")
        return Ended(self._code, "", "SEED: not a number" if self._code else "")


def replaced(monkeypatch: pytest.MonkeyPatch, child: Child) -> Child:
    monkeypatch.setattr(sweeping, "call", child)
    return child


def test_a_sweep_is_a_table_of_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = replaced(monkeypatch, Child())
    axes: dict[str, Any] = {"hosts": [2, 4], "size": "0:64:x2", "seed": 5}
    table = sanlab.sweep("grim_streaming", axes, {"via.vis": 4}, messages=9, workers=1, out=tmp_path)
    assert isinstance(table, pa.Table) and table.to_pydict() == {"hosts": [2, 4], "us": [1.0, 2.0]}
    assert child.words[0] == "sweep" and child.words[-1] == "grim_streaming"
    for word in ("--axes=hosts=2,4 size=0:64:x2 seed=5", "--set=via.vis=4 messages=9", "--workers=1"):
        assert word in child.words


def test_designs_are_given_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = replaced(monkeypatch, Child())
    sanlab.sweep("grim_streaming", designs={"base": {}, "wide bus": {"pci.width": 64}}, out=tmp_path)
    assert "--designs=base: ; wide bus: pci.width=64" in child.words


def test_a_rejected_sweep_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANLAB_OUT", str(tmp_path))
    replaced(monkeypatch, Child(2, leaves=False))
    with pytest.raises(sanlab.RefusedError, match="SEED: not a number"):
        sanlab.sweep("grim_streaming", "size=1,2")
    assert not list((tmp_path / "runs").iterdir())


def test_failed_points_raise_an_error_unless_check_is_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, Child(1))
    given: dict[str, Any] = {"out": tmp_path}
    with pytest.raises(sanlab.FailedError) as raised:
        sanlab.sweep("grim_streaming", "size=1,2", **given)
    assert raised.value.folder == str(tmp_path)
    assert sanlab.sweep("grim_streaming", "size=1,2", check=False, **given).num_rows == 2


def test_a_value_with_a_comma_is_rejected() -> None:
    with pytest.raises(sanlab.RefusedError, match="has a comma; name it in designs"):
        sanlab.sweep("mpi_nas", {"codes": ["EP,IS", "CG"]})
