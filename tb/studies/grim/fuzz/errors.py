"""The reference of errors: each bad act gives exactly one, at the node that did it, and nothing else gives any."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.grim.host import GrimError


@dataclass
class Due:
    """An error that will come late, from some later call of the node."""

    what: str
    arguments: set[str]
    """What it may be about."""
    words: tuple[str, ...]
    """What its text says."""
    least: int = 1
    most: int = 1
    came: int = 0

    def fits(self, error: GrimError) -> bool:
        """Whether this is it."""
        text = str(error)
        return error.argument in self.arguments and all(word in text for word in self.words)


class Ledger:
    """The errors that one node is owed."""

    def __init__(self) -> None:
        self._dues: list[Due] = []

    def owe(self, what: str, argument: str, *words: str, least: int = 1, most: int = 1) -> Due:
        """An act whose error comes late. `argument`: empty when it is none as yet that could be wrong."""
        due = Due(what, {argument} if argument else set(), words, least, most)
        self._dues.append(due)
        return due

    def allow(self, what: str, argument: str, *words: str) -> None:
        """Errors that may come from now on, as many as there will."""
        self._dues.append(Due(what, {argument}, words, 0, 1 << 30))

    def excuse(self, *words: str) -> None:
        """Errors whose texts say this need not come any more."""
        for due in self._dues:
            if all(word in due.words for word in words):
                due.least = 0

    def take(self, error: GrimError) -> bool:
        """Cross an error off; False: nobody has earned it."""
        fitting = [due for due in self._dues if due.came < due.most and due.fits(error)]
        if not fitting:
            return False
        min(fitting, key=lambda due: due.came >= due.least).came += 1
        return True

    def missing(self) -> list[str]:
        """Errors that must come and have not."""
        return [
            f"{due.what}: no error about its {' or '.join(sorted(due.arguments))}"
            for due in self._dues
            if due.came < due.least
        ]
