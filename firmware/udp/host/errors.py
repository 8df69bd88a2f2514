"""Errors of UDP."""

from __future__ import annotations

from pymodels.errors import SanlabError


class UdpError(SanlabError):
    """Failed call; `code` is the name of its error number in `errno`."""

    def __init__(self, what: str, code: str, cause: str, remedy: str) -> None:
        super().__init__(what, f"{cause} ({code})", remedy)
        self.code = code
