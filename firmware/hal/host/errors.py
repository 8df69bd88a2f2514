"""What HAL refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class HalError(SanlabError):
    """A call of HAL that cannot be done."""
