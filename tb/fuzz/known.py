"""Known, unfixed failures of the fuzz tests, each with layer, message and reason."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """Known failure."""

    layer: str
    says: str
    """Regular expression for the first line of the failure."""
    reason: str


KNOWN: tuple[Known, ...] = ()


def known(layer: str, failures: list[str]) -> Known | None:
    """Return the known failure that matches the failures of a program, or None."""
    return next((one for one in KNOWN if one.layer == layer and re.search(one.says, failures[0])), None)
