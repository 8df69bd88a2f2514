"""The doorway's C library without a simulator, for the tests of what crosses it: in C and in Python. And the end of
programs that a test has started.
"""

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
    """The compiled doorway."""
    folder = tmp_path_factory.mktemp("doorway")
    copy_doorway(folder)
    return folder / "libdoorway.so"


@pytest.fixture(name="doorway", params=["compiled", "in Python"])
def fixture_doorway(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Doorway:
    """The doorway, crossed by C and by Python."""
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))
    monkeypatch.setenv(COMPILED, str(int(request.param == "compiled")))
    return Doorway()


@pytest.fixture(name="kernel")
def fixture_kernel(doorway: Doorway) -> Kernel:
    """The loop in C and in Python."""
    return doorway.backend(Kernel)()


@pytest.fixture(autouse=True)
def fixture_no_program_stays() -> Iterator[None]:
    """What an error leaves running ends with its test."""
    yield
    end_all()
