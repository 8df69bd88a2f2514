"""Declarations at the top of a test file: the cluster and the NIC that are built, and the signals that are public."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError

TEXTS = ("CLUSTER", "PROFILE", "MONITORS")
PUBLIC = "PUBLIC"


@dataclass(frozen=True)
class Declared:
    """Declarations of a test file."""

    cluster: str = ""
    """Cluster file or name of an example (CLUSTER)."""
    profile: str = ""
    """Hardware profile (PROFILE)."""
    monitors: str = ""
    """Kinds of monitors, separated by commas (MONITORS)."""
    public: tuple[str, ...] = ()
    """Patterns of signal names (PUBLIC)."""


def read(file: Path) -> Declared:
    """Return the declarations of a test file.

    Raises:
        ConfigError: The file is missing or is not Python, or a declaration is not a constant of the right type.
    """
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise ConfigError(str(file), 0, "unreadable test file", error.strerror or "error", "name a file") from None
    except SyntaxError as error:
        what = "invalid Python in the test file"
        raise ConfigError(str(file), error.lineno or 0, what, error.msg, "correct the line") from None
    found = {
        target.id: (node.lineno, node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in (*TEXTS, PUBLIC)
    }
    given: dict[str, Any] = {}
    for name, (line, value) in found.items():
        given[name.lower()] = _constant(file, line, name, value)
    return Declared(**given)


def _constant(file: Path, line: int, name: str, value: ast.expr) -> str | tuple[str, ...]:
    try:
        constant = ast.literal_eval(value)
    except ValueError:
        constant = None
    if name in TEXTS and isinstance(constant, str):
        return constant
    if name == PUBLIC and isinstance(constant, (list, tuple)) and all(isinstance(one, str) for one in constant):
        return tuple(constant)
    kind = "a text" if name in TEXTS else "a list of texts"
    raise ConfigError(str(file), line, name, f"not {kind}", f"write a constant, since {name} is read before the build")
