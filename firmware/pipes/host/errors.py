"""What Pipes refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class PipesError(SanlabError):
    """A call of Pipes that cannot be done."""
