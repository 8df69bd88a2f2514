"""Writing, comparison and rejection of cost tables.

Strategy: nothing is compiled; the counts are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pymodels.costs import compile as counting
from pymodels.errors import ConfigError

FIRMWARE = Path(__file__).parents[3] / "firmware"


@pytest.fixture(name="written")
def fixture_written(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the written tables, by path from the firmware's folder."""
    found: dict[str, str] = {}

    def keep(path: Path, text: str) -> None:
        found[path.relative_to(FIRMWARE).as_posix()] = text

    replaced: dict[str, Callable[..., object]] = {
        "compiler_version": lambda: "1",
        "counts": lambda folder, target: {},
        "render": lambda folder, target, counted, version: f"{target.name}, {version}",
        "render_executed": lambda folder, target, version: "executed",
        "write": keep,
    }
    for name, made_up in replaced.items():
        monkeypatch.setattr(counting, name, made_up)
    return found


def test_tables_of_each_processor_and_of_execution_are_written(written: dict[str, str]) -> None:
    assert counting.run(check=False, chosen=["echo"]) == 0
    assert written == {
        "echo/host/costs.toml": "i686, 1",
        "echo/host/costs.powerpc.toml": "powerpc, 1",
        "echo/nic/costs.toml": "lanai, 1",
        "echo/nic/executed.toml": "executed",
    }


def test_check_counts_different_tables_and_writes_none(
    written: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert counting.run(check=True, chosen=["echo"]) == 3
    assert written == {} and capsys.readouterr().err.count("is stale") == 4


def test_a_layer_without_paths_is_rejected_with_the_nearest_name(written: dict[str, str]) -> None:
    with pytest.raises(
        ConfigError, match=r"unknown layer 'ecko': no layer of this name has paths\.c; did you mean 'echo'"
    ):
        counting.run(check=False, chosen=["ecko"])
    assert written == {}
