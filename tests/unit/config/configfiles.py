"""A small cluster as files, and how a test changes one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.config import load_cluster
from pymodels.errors import ConfigError

# The example of paper 003, C.1.1, character for character, with the unmatched brace at the end.
AS_PRINTED = """\
!--The French Cluster--
CLUSTER          French_cluster
CLUSTER_RESOURCE French_cluster_config.txt
ROUTING_MYRI     grim_routes_myri.txt

HOST paris
    USE MYRI
    USE CELOXICA

HOST metz
    USE MYRI
}
"""
FILES = {
    "grim_config": AS_PRINTED,
    "French_cluster_config.txt": "HOST_MAP_MYRI hosts\nCIRCUITS_CELOXICA circuits\n",
    "grim_routes_myri.txt": "0 1:81\n1 0:BF\n",
    "hosts": "paris 0\nmetz 1\n",
    "circuits": "video.bit 0 fir16\nvideo.bit 1 histogram\n",
}

CONFIG, RESOURCE, ROUTES = "grim_config", "French_cluster_config.txt", "grim_routes_myri.txt"
COMPUTED = AS_PRINTED.replace("ROUTING_MYRI     grim_routes_myri.txt", "").replace("    USE CELOXICA\n", "")
NO_ROUTES = {CONFIG: COMPUTED}
"""Line numbers of COMPUTED: HOST paris on 6, HOST metz on 9."""


def many(count: int) -> str:
    return "CLUSTER big\n" + "".join(f"HOST h{i}\nUSE MYRI\n" for i in range(count))


def put(folder: Path, **changed: str) -> Path:
    """Write the cluster's files, some with another text, and further ones. Returns the path of `grim_config`."""
    for name, text in (FILES | changed).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "grim_config"


def swapped(name: str, old: str, new: str) -> dict[str, str]:
    """Return the files of the cluster with a piece of one replaced, which must exist."""
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}


def error_text(folder: Path, changed: dict[str, str], host: str | None = None) -> str:
    """Return the error text of the changed cluster, with file names relative to its folder."""
    path = put(folder, **changed)
    with pytest.raises(ConfigError) as error:
        load_cluster(path, host)
    assert error.value.exit_code == 2
    return str(error.value).replace(f"{folder}/", "")
