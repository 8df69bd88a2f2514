"""Errors of Split-C."""

from __future__ import annotations

from pymodels.errors import SanlabError


class SplitCError(SanlabError):
    """Invalid call of Split-C."""
