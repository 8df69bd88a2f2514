"""Doorway compiled once for all builds.

Strategy: after a first copy the compiler may not be called again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.build import doorway


def test_a_second_build_reuses_the_doorway_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = [tmp_path / name for name in ("first", "second")]
    for folder in builds:
        folder.mkdir()
    doorway.copy_doorway(builds[0])
    monkeypatch.setattr(doorway, "run_tool", lambda *_: pytest.fail("compiled again"))
    doorway.copy_doorway(builds[1])
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in builds)
    assert first == second
    assert "libdoorway.so" in first
