"""Errors of HPAM."""

from __future__ import annotations

from pymodels.errors import SanlabError


class HpamError(SanlabError):
    """Invalid call of HPAM, or invalid message received."""
