"""GRIM's exception."""

from __future__ import annotations

from pymodels.errors import SanlabError

LIMIT_REMEDY = "send it in parts, or raise the limit in the circuit file"
"""Remedy for a message that is longer than a circuit accepts."""


class GrimError(SanlabError):
    """Rejected GRIM call; `argument` is the name of the invalid argument."""

    def __init__(self, argument: str, cause: str, remedy: str) -> None:
        super().__init__(argument, cause, remedy)
        self.argument = argument


class CardPowerError(GrimError):
    """Call for a card that does not answer on its bus."""

    def __init__(self, vnn: int) -> None:
        super().__init__(
            "card", f"the card of VNN {vnn} does not answer: it has no power", "restore its power, then call restart"
        )
        self.vnn = vnn


class UndeliveredError(GrimError):
    """Unanswered message to a host that went down or restarted, which may have arrived.

    `vnn` is that host and `first` the first argument of the message.
    """

    def __init__(self, vnn: int, first: int) -> None:
        super().__init__(
            "destination", f"VNN {vnn} does not answer: it is down", "enable the cluster again when it is up"
        )
        self.vnn, self.first = vnn, first
