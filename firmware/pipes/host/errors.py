"""Errors of Pipes."""

from __future__ import annotations

from pymodels.errors import SanlabError


class PipesError(SanlabError):
    """Invalid call of Pipes."""
