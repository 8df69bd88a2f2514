"""What HPAM refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class HpamError(SanlabError):
    """A call of HPAM that cannot be done."""
