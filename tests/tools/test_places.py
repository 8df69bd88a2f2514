"""Tools in a folder with any path and name.

Strategy: the results are moved below /tmp, which the sandbox of Yosys replaces. The name of their folder contains all
characters that a shell, make, the loader or a tool could interpret. A proof holds, and a wrong block gives a
counterexample there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb.build.build import Design, needed_files
from tb.quality import proofs
from tb.quality.proofs import prove
from tb.quality.yosys import yosys

STRANGE = "a b#c$d'e:f;g,h%i&j\"k(l=\u00e9"
"""Characters that programs treat specially."""


@pytest.fixture(name="place")
def fixture_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder below /tmp with a strange name, to which results of quality checks go."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder) / STRANGE
        monkeypatch.setattr(proofs, "OUT", place)
        monkeypatch.setattr("tb.quality.proofs.FOLDER", place / "prove")
        monkeypatch.setattr("tb.quality.replay.FOLDER", place / "prove")
        yield place


def test_a_proof_holds_and_leaves_a_counterexample_below_tmp(place: Path) -> None:
    proof = next(one for one in proofs.proofs() if one.block == "myri_index")
    assert prove(proof).failed == ()
    (source,) = (one for one in needed_files(Design(proof.block)) if one.stem == proof.block)
    text = source.read_text(encoding="utf-8")
    assert text.count("counted != '0") == 1
    verdict = prove(proof, text.replace("counted != '0", "counted == '0"))
    assert verdict.refuted and verdict.wave == place / "prove" / "myri_index.vcd"
    assert verdict.test == place / "prove" / "test_myri_index.py" and verdict.test.exists()


def test_yosys_keeps_its_compiled_form_with_the_results_where_the_users_cache_is_read_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[dict[str, str]] = []

    def noted(command: list[str], env: dict[str, str], *more: object) -> tuple[int, list[str]]:
        seen.append(env)
        return 0, []

    (tmp_path / "file").touch()
    monkeypatch.setattr("tb.quality.yosys.output", noted)
    monkeypatch.setattr("tb.quality.yosys.OUT", tmp_path / "results")
    monkeypatch.delenv("YOWASP_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    yosys(tmp_path, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yosys(tmp_path, "")
    assert [env.get("YOWASP_CACHE_DIR") for env in seen] == [str(tmp_path / "results" / ".yowasp"), None]
