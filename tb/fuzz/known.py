"""Failures that the fuzz finds and that are not mended yet: each by its layer, what it says, and why it may stand."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """One of them."""

    layer: str
    says: str
    """A regular expression for the first line of the failure."""
    reason: str


KNOWN: tuple[Known, ...] = ()


def known(layer: str, failures: list[str]) -> Known | None:
    """The known failure that a program has met."""
    return next((one for one in KNOWN if one.layer == layer and re.search(one.says, failures[0])), None)
