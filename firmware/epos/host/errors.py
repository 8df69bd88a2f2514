"""Exception of EPOS."""

from __future__ import annotations

from pymodels.errors import SanlabError


class EposError(SanlabError):
    """Invalid EPOS call, or call that a family member does not support."""
