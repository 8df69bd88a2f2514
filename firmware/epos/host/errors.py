"""What EPOS refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class EposError(SanlabError):
    """A call that cannot be done, or a family member that lacks what is asked of it."""
