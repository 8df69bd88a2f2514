"""Lines of a configuration file as words with their position, and checks shared by all keywords.

`!--` begins a comment that extends to the end of the line. Braces are ignored: the example of paper 003, C.1.1 closes a
brace that it never opened, and parses as printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pymodels import numerals
from pymodels.errors import ConfigError, nearest
from pymodels.toml import check_mark

COMMENT = "!--"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


class Line(NamedTuple):
    """Words of one line, with file and line number (from 1)."""

    file: str
    number: int
    words: tuple[str, ...]

    def error(self, what: str, cause: str, remedy: str) -> ConfigError:
        """Return a ConfigError at this line."""
        return ConfigError(self.file, self.number, what, cause, remedy)

    @property
    def place(self) -> str:
        """Position as `file:line`."""
        return f"{self.file}:{self.number}"


def read_lines(path: Path, asked_by: Line | None = None) -> list[Line]:
    """Return the non-empty lines of a file. Raises ConfigError, at the line `asked_by` that names it, if it cannot be
    read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            str(path), 0, "not a text file", f"byte {error.start} is not UTF-8", "name a configuration file"
        ) from None
    except OSError as error:
        cause, remedy = f"cannot read {str(path)!r} ({error.strerror})", "create it or correct the name"
        if asked_by is None:
            raise ConfigError(str(path), 0, "missing file", cause, remedy) from None
        raise asked_by.error(
            "missing file", cause, f"{remedy}; its path is relative to the folder of {asked_by.file}"
        ) from None
    check_mark(str(path), text)
    lines = []
    for number, row in enumerate(text.splitlines(), 1):
        words = tuple(word for word in row.split(COMMENT)[0].split() if word.strip("{}"))
        if words:
            lines.append(Line(str(path), number, words))
    return lines


def named_file(line: Line) -> Path:
    """Return the path in the first argument of a line, relative to the folder of the line's file."""
    return Path(line.file).parent / line.words[1]


def check_arguments(line: Line, usage: str) -> None:
    """Raise ConfigError unless a line has the arguments of its usage; `[x]` is optional."""
    wanted = usage.split()
    needed = sum(not word.startswith("[") for word in wanted)
    if not needed <= len(line.words) <= len(wanted):
        some = "too few" if len(line.words) < needed else "too many"
        raise line.error(f"{some} words after {line.words[0]}", f"{len(line.words) - 1} given", f"write {usage}")


def check_name(line: Line, word: str, kind: str) -> str:
    """Return a valid name of a host, switch or cluster: a letter, then letters, digits, `_`, `.` and `-`."""
    if not NAME.fullmatch(word):
        raise line.error(f"bad {kind} name", f"{word!r}", "a letter, then letters, digits, '_', '.' or '-'")
    return word


def integer(line: Line, word: str, meaning: str, low: int, high: int) -> int:
    """Return an integer within low..high. Raises ConfigError for another type or range."""
    try:
        value = numerals.whole(word, 16 if word.lower().startswith("0x") else 10)
    except ValueError:
        raise line.error("wrong type", f"{meaning} is {word!r}", "write a whole number") from None
    if not low <= value <= high:
        raise line.error("value out of range", f"{meaning} is {value}", f"it must be {low} to {high}")
    return value


def number(line: Line, word: str, meaning: str, unit: str) -> float:
    """Return a finite number. Raises ConfigError for another type."""
    try:
        value = numerals.real(word)
    except ValueError:
        value = float("nan")
    if not math.isfinite(value):
        raise line.error("wrong type", f"{meaning} is {word!r}", f"write a number of {unit}")
    return value


def unknown(line: Line, kind: str, word: str, known: Iterable[str]) -> ConfigError:
    """Return the error for an unknown name, with the most similar known name."""
    return line.error(f"unknown {kind}", repr(word), nearest(word, known))
