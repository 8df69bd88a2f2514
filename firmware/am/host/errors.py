"""What AM refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class AmError(SanlabError):
    """A call of AM that cannot be done."""
