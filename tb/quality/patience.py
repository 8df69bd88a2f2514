"""First call in the Python of a bench with a mutant: limit the time of each test.

A test that waits forever ends only at its simulated time-out, which takes long. The file SANLAB_TEST_SECONDS has the
CPU seconds of each test without a mutant. When a test exceeds the limit of `limits.py`, a signal ends the simulator.
Without the file, the bench writes it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from tb.quality import limits
from tb.quality.benches import TEST_SECONDS


class _Tests:
    """Timer of a bench's tests."""

    def __init__(self, file: Path) -> None:
        self._file, self._taken = file, dict[str, float]()
        self._known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        self._name, self._begun = "", 0.0

    def begins(self, name: str) -> None:
        """End the previous test and begin the next; an empty name ends the last test."""
        now = time.process_time()
        if self._name:
            self._taken[self._name] = now - self._begun
        self._name, self._begun = name, now
        if self._known is not None:
            limit = limits.TEST_OF_BENCH.limit_for(self._known.get(name, 0.0)) if name else 0.0
            signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        elif not name:
            self._file.write_text(json.dumps(self._taken), encoding="utf-8")


def begin() -> None:
    """Time the tests of cocotb, then load its entry point."""
    tests = _Tests(Path(os.environ[TEST_SECONDS]))
    manager: Any = importlib.import_module("cocotb.regression").RegressionManager
    init_test, tear_down = manager._init_test, manager._tear_down

    def begins(self: Any) -> Any:
        tests.begins(self._test.fullname)
        return init_test(self)

    def ends(self: Any) -> None:
        tests.begins("")
        tear_down(self)

    manager._init_test, manager._tear_down = begins, ends
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    del os.environ["PYGPI_USERS"]  # the variable named this function
    importlib.import_module("pygpi.entry").load_entry()
