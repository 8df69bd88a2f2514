"""Errors of HAL."""

from __future__ import annotations

from pymodels.errors import SanlabError


class HalError(SanlabError):
    """Invalid call of HAL."""
