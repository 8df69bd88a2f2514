"""What Split-C refuses."""

from __future__ import annotations

from pymodels.errors import EXIT_CONFIGURATION, SanlabError


class SplitCError(SanlabError):
    """A call of Split-C that cannot be done."""


class OptionError(SanlabError):
    """An option that cannot be."""

    exit_code = EXIT_CONFIGURATION
