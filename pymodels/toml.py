"""Reader of TOML files whose errors contain file and line."""

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
"""Byte order mark, which some editors write at the start of a file."""
PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the table and the text of a TOML file. Raises ConfigError if it cannot be read or is not valid TOML."""
    text = read_text(path)
    return parsed(path, text), text


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ConfigError if it cannot be read."""
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
    """Raise ConfigError if a text begins with a byte order mark."""
    if text.startswith(MARK):
        cause = "the file begins with the bytes EF BB BF"
        raise ConfigError(file, 1, "a byte order mark", cause, "save it as UTF-8 without one")


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Return the table of a TOML text; `path` is for the message. Raises ConfigError if it is not valid TOML."""
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        cause = PLACE.sub("", str(error))
        raise ConfigError(str(path), line, "not TOML", cause[:1].lower() + cause[1:], "correct the line") from None
    return table


def line_of(text: str, table: str, key: str) -> int:
    """Return the line number of a key in a TOML text; 0 if not found.

    Args:
        text: The TOML text.
        table: Name of the table as between brackets, "" for the top level.
        key: The key.
    """
    here = ""
    for number, row in enumerate(text.splitlines(), 1):
        bare = row.strip()
        if bare.startswith("["):
            here = bare.split("#")[0].strip().strip("[]").replace('"', "")
        elif here == table and re.match(rf'"?{re.escape(key)}"?\s*=', bare):
            return number
    return 0
