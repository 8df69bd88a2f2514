"""Reference of errors: each invalid action raises exactly one error, on its own node, and nothing else raises any."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.grim.host import GrimError


@dataclass
class Due:
    """Expected error, raised by some later call of the node."""

    what: str
    arguments: set[str]
    """Possible subjects of the error."""
    words: tuple[str, ...]
    """Parts of its text."""
    least: int = 1
    most: int = 1
    came: int = 0

    def fits(self, error: GrimError) -> bool:
        """Return True if an error is the expected one."""
        text = str(error)
        return error.argument in self.arguments and all(word in text for word in self.words)


class Ledger:
    """Expected errors of one node."""

    def __init__(self) -> None:
        self._dues: list[Due] = []

    def owe(self, what: str, argument: str, *words: str, least: int = 1, most: int = 1) -> Due:
        """Expect `least` to `most` errors of an action; an empty `argument` means that none can be wrong yet."""
        due = Due(what, {argument} if argument else set(), words, least, most)
        self._dues.append(due)
        return due

    def allow(self, what: str, argument: str, *words: str) -> None:
        """Allow any number of further errors about an argument."""
        self._dues.append(Due(what, {argument}, words, 0, 1 << 30))

    def excuse(self, *words: str) -> None:
        """Make expected errors with these words optional."""
        for due in self._dues:
            if all(word in due.words for word in words):
                due.least = 0

    def take(self, error: GrimError) -> bool:
        """Match an error with an expected one; return False if it is unexpected."""
        fitting = [due for due in self._dues if due.came < due.most and due.fits(error)]
        if not fitting:
            return False
        min(fitting, key=lambda due: due.came >= due.least).came += 1
        return True

    def missing(self) -> list[str]:
        """Return a description of each expected error that was not raised."""
        return [
            f"{due.what}: no error about its {' or '.join(sorted(due.arguments))}"
            for due in self._dues
            if due.came < due.least
        ]
