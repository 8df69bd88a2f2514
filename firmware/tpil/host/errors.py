"""Errors of TPIL."""

from __future__ import annotations

from pymodels.errors import SanlabError


class TpilError(SanlabError):
    """Invalid call of TPIL, or a transfer that cannot end."""


class CardGoneError(TpilError):
    """DMA of a card that does not answer, or does not finish."""
