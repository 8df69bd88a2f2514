"""GRIM's exception."""

from __future__ import annotations

from pymodels.errors import SanlabError


class GrimError(SanlabError):
    """A call that is refused. `argument` names what is wrong with it."""

    def __init__(self, argument: str, cause: str, remedy: str) -> None:
        super().__init__(argument, cause, remedy)
        self.argument = argument


class UndeliveredError(GrimError):
    """A message was not answered because its host went down or restarted: it may have arrived. `vnn`: that host;
    `first`: the first argument of the message.
    """

    def __init__(self, vnn: int, first: int) -> None:
        super().__init__(
            "destination", f"VNN {vnn} does not answer: it is down", "enable the cluster again when it is up"
        )
        self.vnn, self.first = vnn, first
