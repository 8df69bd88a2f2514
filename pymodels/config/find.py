"""Finds the configuration file: the one named, else the one of GRIM_CONFIG, else the example of two hosts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pymodels.config.writer import CONFIG
from pymodels.errors import ConfigError, nearest
from pymodels.roots import things

EXAMPLES = "pymodels/clusters"
DEFAULT = "two_hosts"
VARIABLE = "GRIM_CONFIG"
HOST_VARIABLE = "GRIM_HOST"
"""Names a host, and so one of several clusters in a file."""


def examples() -> tuple[str, ...]:
    """Names of the clusters that come with sanlab, or with another root."""
    return tuple(things(EXAMPLES, f"*/{CONFIG}"))


def find_config(name: str | None, environment: Mapping[str, str]) -> Path:
    """The configuration file of a cluster: `name` is a file, a folder with a `grim_config`, or the name of an example.

    Without a name the environment variable GRIM_CONFIG decides (paper 003, C.1.1). ConfigError when there is none.
    """
    asked = name or environment.get(VARIABLE) or DEFAULT
    for path in (Path(asked), Path(asked) / CONFIG, things(EXAMPLES, f"*/{CONFIG}").get(asked)):
        if path is not None and path.is_file():
            return path
    source = "CLUSTER" if name else VARIABLE
    raise ConfigError(source, 0, "unknown cluster", f"{asked!r} is no file and no example", nearest(asked, examples()))
