"""Search of the configuration file: a given name, else GRIM_CONFIG, else the example of two hosts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pymodels.config.writer import CONFIG
from pymodels.errors import ConfigError, nearest
from pymodels.roots import files_by_name

EXAMPLES = "pymodels/clusters"
DEFAULT = "two_hosts"
VARIABLE = "GRIM_CONFIG"
HOST_VARIABLE = "GRIM_HOST"
"""Environment variable with the name of a host, which chooses one of several clusters in a file."""


def examples() -> tuple[str, ...]:
    """Return the names of the example clusters in all roots."""
    return tuple(files_by_name(EXAMPLES, f"*/{CONFIG}"))


def find_config(name: str | None, environment: Mapping[str, str]) -> Path:
    """Return the path of a cluster's configuration file.

    Args:
        name: A file, a folder with a `grim_config`, or the name of an example; None to use GRIM_CONFIG (paper 003,
            C.1.1).
        environment: The environment variables.

    Raises:
        ConfigError: There is no such file or example.
    """
    asked = name or environment.get(VARIABLE) or DEFAULT
    for path in (Path(asked), Path(asked) / CONFIG, files_by_name(EXAMPLES, f"*/{CONFIG}").get(asked)):
        if path is not None and path.is_file():
            return path
    source = "CLUSTER" if name else VARIABLE
    raise ConfigError(
        source, 0, "unknown cluster", f"{asked!r} is neither a file nor an example", nearest(asked, examples())
    )
