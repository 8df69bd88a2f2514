"""What HPAM refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class HpamError(SanlabError):
    """A call of HPAM that cannot be done."""


class OptionError(HpamError):
    """An option that cannot be, or a card that HPAM cannot run on."""

    exit_code = 2
