"""Pictures of the pages: reports of runs, seen by a headless Chromium.

`python -m tb.docs.pictures` makes the studies' runs again and writes the pictures of `PICTURES`; names choose some.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tb.report.terminal import complain
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

FOLDER = Path(__file__).parent / "pictures"
BROWSER = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


class Picture(NamedTuple):
    """A picture of a page that a command leaves."""

    command: str
    """Words after `sanlab`; `{out}` is the folder for results."""
    page: str
    """Page below the folder for results."""
    width: int
    height: int


PICTURES = {
    "report": Picture("run grim_pingpong --out={out}", "report.html", 1180, 1130),
}


def make(name: str, picture: Picture) -> Path:
    """Run the command of a picture and write the picture; return its path. Raises ToolError if either fails."""
    target = FOLDER / f"{name}.png"
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        words = picture.command.format(out=out).split()
        _run("the run", [sys.executable, "-m", "tb.sanlab", *words])
        size = f"--window-size={picture.width},{picture.height}"
        _run("the picture", [*BROWSER, size, f"--screenshot={target}", (Path(out) / picture.page).as_uri()])
    return target


def _run(what: str, command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise ToolError(f"{what} was not made", f"{command[0]}: {error.strerror}", "install it") from error
    if done.returncode:
        raise ToolError(f"{what} was not made", done.stderr.strip()[-2000:], f"the command was: {' '.join(command)}")


def main(names: Sequence[str]) -> int:
    """Write all pictures, or the ones that are named; return the exit code."""
    try:
        for name in names or PICTURES:
            print(make(name, PICTURES[name]).relative_to(ROOT))
    except ToolError as error:
        complain(str(error))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
