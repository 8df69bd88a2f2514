"""What Split-C refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class SplitCError(SanlabError):
    """A call of Split-C that cannot be done."""
