"""Lookup of a user's function, `file.py:function`, before anything is built."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError, nearest

EXAMPLES = Path(__file__).with_name("examples")
WANTED = "name a Python file and a function of it, such as ring.py:main"


def function_of(named: str, directory: Path) -> Callable[..., Any]:
    """Return the named function from a file in `directory` or among the examples. Raises ConfigError."""
    name, _, function = named.partition(":")
    if not function:
        raise ConfigError("SET", 0, "no function", f"function is {named!r}", WANTED)
    file = next((folder / name for folder in (directory, EXAMPLES) if (folder / name).is_file()), None)
    if file is None:
        raise ConfigError("SET", 0, "file not found", f"no {name!r} in {directory} or among the examples", WANTED)
    try:
        found = runpy.run_path(str(file))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError("SET", 0, "file does not run", f"{file}: {what}", "correct the file") from error
    if not callable(found.get(function)):
        known = [one for one, value in found.items() if callable(value) and not one.startswith("_")]
        raise ConfigError(
            "SET", 0, "function not found", f"{file} has no function {function!r}", nearest(function, known)
        )
    return found[function]  # type: ignore[no-any-return]
