"""The common form of every error that a user can cause: what is wrong, why, and what would be right.

The message is always `what: cause; remedy`; errors in a file put `file:line: ` in front. A main program prints
`str(error)` and leaves with `error.exit_code`: 2 means the user's input was refused before anything was built.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_CONFIGURATION = 2
MANY, SOME = 12, 3
"""Above so many known names a message lists only so many of them."""


class SanlabError(Exception):
    """Base of all errors with a known cause: `what` is wrong, its `cause`, and the `remedy`."""

    exit_code = 1

    def __init__(self, what: str, cause: str, remedy: str) -> None:
        super().__init__(what, cause, remedy)
        self.what = what
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.cause}; {self.remedy}"


class ConfigError(SanlabError):
    """A mistake in a configuration file, a profile or a setting. `line` counts from 1; 0 means the file as a whole."""

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
    """A text on one line for a terminal or a page: line ends become spaces, other control characters are escaped."""
    line = " ".join(part for part in text.splitlines() if part.strip())
    return "".join(one if one.isprintable() or one == "\t" else _escaped(one) for one in line)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the known name nearest to it; if none is near, all of them, or some of many.

    Upper and lower case count as equal; a dotted name is also known by its last part (`nic_ps` for `clock.nic_ps`).
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
