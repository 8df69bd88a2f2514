"""Errors of AM."""

from __future__ import annotations

from pymodels.errors import SanlabError


class AmError(SanlabError):
    """Invalid call of AM, or invalid message received."""
