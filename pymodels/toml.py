"""TOML files read with errors that name the file and the line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MARK = "\ufeff"
"""The byte order mark, which some editors put before a text."""
PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The table of a TOML file, and its text. ConfigError when it cannot be read or is no TOML."""
    text = read_text(path)
    return parsed(path, text), text


def read_text(path: Path) -> str:
    """The text of a file. ConfigError when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            str(path), 0, "missing file", f"cannot read it ({error.strerror})", "create it or correct the name"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            str(path), 0, "not a text file", f"byte {error.start} is not UTF-8", "name a TOML file"
        ) from None
    check_mark(str(path), text)
    return text


def check_mark(file: str, text: str) -> None:
    """Raise ConfigError for a text that begins with a byte order mark."""
    if text.startswith(MARK):
        cause = "the file begins with the bytes EF BB BF"
        raise ConfigError(file, 1, "a byte order mark", cause, "save it as UTF-8 without one")


def parsed(path: Path, text: str) -> dict[str, Any]:
    """The table that a TOML file has. ConfigError when it is no TOML."""
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        cause = PLACE.sub("", str(error))
        raise ConfigError(str(path), line, "not TOML", cause[:1].lower() + cause[1:], "correct the line") from None
    return table


def line_of(text: str, table: str, key: str) -> int:
    """The line of a key in a table (`table` as written between brackets, "" for the top); 0 when not found."""
    here = ""
    for number, row in enumerate(text.splitlines(), 1):
        bare = row.strip()
        if bare.startswith("["):
            here = bare.split("#")[0].strip().strip("[]").replace('"', "")
        elif here == table and re.match(rf'"?{re.escape(key)}"?\s*=', bare):
            return number
    return 0
