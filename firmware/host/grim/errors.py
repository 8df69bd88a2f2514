"""GRIM's exception."""

from __future__ import annotations

from pymodels.errors import SanlabError


class GrimError(SanlabError):
    """A call that cannot be done. `argument` names what is wrong with it."""

    def __init__(self, argument: str, cause: str, remedy: str) -> None:
        super().__init__(argument, cause, remedy)
        self.argument = argument
