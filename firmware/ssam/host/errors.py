"""Errors of SSAM."""

from __future__ import annotations

from pymodels.errors import SanlabError


class SsamError(SanlabError):
    """Invalid call of SSAM, or invalid message received."""
