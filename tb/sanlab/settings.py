"""Conversion of settings from Python values to the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from os import PathLike, fspath

Setting = str | float | PathLike[str]
REFUSED = 2
"""Exit code of a command for invalid input."""


def words(settings: Mapping[str, Setting]) -> str:
    """Return settings as one text, `key=value key=value`, quoted as in SET."""
    return " ".join(f"{key}={shlex.quote(text(value))}" for key, value in settings.items())


def text(value: Setting) -> str:
    """Return a value as typed on the command line."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # numpy's scalars
        value = value.item()
    if isinstance(value, bool):
        return str(int(value))
    return value if isinstance(value, str) else fspath(value) if isinstance(value, PathLike) else repr(value)
