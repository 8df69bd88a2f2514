"""What UDP refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class UdpError(SanlabError):
    """A call that cannot be done. `code`: the name of its number in `errno`."""

    def __init__(self, what: str, code: str, cause: str, remedy: str) -> None:
        super().__init__(what, f"{cause} ({code})", remedy)
        self.code = code
