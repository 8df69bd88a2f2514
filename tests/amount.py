"""Number of cases that a test runs: all in `make test-long` and against mutants, fewer in `make test`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
EVERY_CASE = "SANLAB_EVERY_CASE" in os.environ
"""True in `make test-long`, and where a mutant is tried."""


def cases(every: Sequence[Case], usual: Sequence[Case]) -> Sequence[Case]:
    """Return the cases to run.

    Args:
        every: All cases.
        usual: Those of `make test`: one of each kind, chosen for little time.
    """
    return every if EVERY_CASE else usual
