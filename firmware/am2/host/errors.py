"""What AM-II refuses."""

from __future__ import annotations

from firmware.am2.nic.words import Code
from pymodels.errors import SanlabError


class Am2Error(SanlabError):
    """A call of AM-II that cannot be done, or a message that came back to a program without a handler for it."""

    def __init__(self, what: str, cause: str, remedy: str, code: Code = Code.BAD_ARGUMENTS) -> None:
        super().__init__(what, cause, remedy)
        self.code = code
        """The name that the AM 2.0 specification has for it."""
