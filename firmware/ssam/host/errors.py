"""What SSAM refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class SsamError(SanlabError):
    """A call of SSAM that cannot be done."""
