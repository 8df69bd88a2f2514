"""Errors of AM-II."""

from __future__ import annotations

from firmware.am2.nic.words import Code
from pymodels.errors import SanlabError


class Am2Error(SanlabError):
    """Invalid AM-II call, or a returned message in a program without a handler for returned messages."""

    def __init__(self, what: str, cause: str, remedy: str, code: Code = Code.BAD_ARGUMENTS) -> None:
        super().__init__(what, cause, remedy)
        self.code = code
        """Error code of the AM 2.0 specification."""
