"""Base classes of all errors that a user can cause, and helpers for their texts.

A message has the form `what: cause; remedy`; errors in a file have the prefix `file:line: `. A main program prints
`str(error)` and exits with `error.exit_code`: 2 means that invalid input was rejected before anything was built.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_CONFIGURATION = 2
MANY, SOME = 12, 3
"""Limits of `nearest`: of more than MANY known names a message lists only SOME."""


class SanlabError(Exception):
    """Base class of all errors with a known cause.

    Attributes:
        what: The subject, in a few words.
        cause: What is wrong, with the value at fault.
        remedy: What would be right.
    """

    exit_code = 1

    def __init__(self, what: str, cause: str, remedy: str) -> None:
        super().__init__(what, cause, remedy)
        self.what = what
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.cause}; {self.remedy}"


class ConfigError(SanlabError):
    """Mistake in a configuration file, a profile or a setting. `line` counts from 1; 0 stands for the whole file."""

    exit_code = EXIT_CONFIGURATION

    def __init__(self, file: str, line: int, what: str, cause: str, remedy: str) -> None:
        super().__init__(what, cause, remedy)
        self.args = (file, line, what, cause, remedy)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {super().__str__()}"


def shown(text: str) -> str:
    """Return a text on one line for a terminal or a page: line ends become spaces, other control characters are
    escaped.
    """
    line = " ".join(part for part in text.splitlines() if part.strip())
    return "".join(one if one.isprintable() or one == "\t" else _escaped(one) for one in line)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the most similar known name, or else a list of known names.

    Case is ignored. A dotted name also matches by its last part (`nic_ps` for `clock.nic_ps`).
    """
    names = sorted(known)
    folded = {name.lower(): name for name in reversed(names)}
    folded.update({name.lower().rsplit(".", 1)[-1]: name for name in reversed(names) if "." in name})
    close = difflib.get_close_matches(word.lower(), sorted(folded), 1, 0.5)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    if len(names) > MANY:
        close = difflib.get_close_matches(word.lower(), sorted(folded), MANY, 0.0)
        first = list(dict.fromkeys(folded[name] for name in close))[:SOME]
        return f"nearest of {len(names)} known: {', '.join(first)}"
    return f"known: {', '.join(names)}" if names else "none are known"
