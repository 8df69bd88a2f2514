"""How long a test waits for what must come. Nothing measures time: only what never comes takes so long."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 1800
"""Of wall time. A machine that is busy with other things makes any program a hundred times slower."""


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Until something holds. Raises TimeoutError with `what` was waited for."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.02)
