"""What SSAM refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class SsamError(SanlabError):
    """A call of SSAM that cannot be done."""


class OptionError(SsamError):
    """An option that cannot be, or a card that SSAM cannot run on."""

    exit_code = 2
