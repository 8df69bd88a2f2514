"""Unit tests run no simulator, no compiler and no other program that a machine may lack: one that tries it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

REFUSED = ("gcc", "g++", "cc", "c++", "clang", "clang++", "clang-16", "iverilog", "vvp", "tshark", "chromium")
SCRIPT = """#!/bin/sh
echo "unit tests do not run ${0##*/}: this one belongs into tests/tools" >&2
exit 97
"""


@pytest.fixture(name="refusing", scope="session")
def fixture_refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of programs that refuse to run."""
    folder = tmp_path_factory.mktemp("refused")
    for name in REFUSED:
        program = folder / name
        program.write_text(SCRIPT, encoding="utf-8")
        program.chmod(0o755)
    return folder


@pytest.fixture(name="path", scope="module", autouse=True)
def fixture_path(refusing: Path) -> Iterator[None]:
    """Put the programs that refuse to run before those of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{refusing}{os.pathsep}{os.environ['PATH']}")
        yield
