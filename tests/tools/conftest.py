"""Doorway library without a simulator, accessed from C and from Python, and the end of programs started by a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodels.host.outside import end_all
from pymodels.kernel import Kernel
from tb.build.doorway import copy_doorway
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway


@pytest.fixture(name="library", scope="session")
def fixture_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled doorway."""
    folder = tmp_path_factory.mktemp("doorway")
    copy_doorway(folder)
    return folder / "libdoorway.so"


@pytest.fixture(name="doorway", params=["compiled", "in Python"])
def fixture_doorway(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Doorway:
    """Return the doorway, accessed from C and from Python."""
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))
    monkeypatch.setenv(COMPILED, str(int(request.param == "compiled")))
    return Doorway()


@pytest.fixture(name="kernel")
def fixture_kernel(doorway: Doorway) -> Kernel:
    """Return the event loop, in C and in Python."""
    return doorway.backend(Kernel)()


@pytest.fixture(autouse=True)
def fixture_no_program_stays() -> Iterator[None]:
    """End the processes that an error has left running at the end of the test."""
    yield
    end_all()
