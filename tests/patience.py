"""Time-out of tests that wait for an event. No test measures time: only a missing event takes so long."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 1800
"""Time-out in wall time. A busy machine makes any program a hundred times slower."""


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition holds. Raises TimeoutError that names `what` was waited for."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.02)
