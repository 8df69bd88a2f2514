"""Pictures of the pages: reports seen by a headless Chromium, waves seen by GTKWave on a virtual screen, plots.

`python -m tb.docs.pictures` makes the studies' runs again and writes the pictures of `PICTURES`; names choose some.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tb.docs.reader import PageError, Reader, blocks
from tb.report.terminal import complain
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

FOLDER = Path(__file__).parent / "pictures"
BROWSER = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


class Picture(NamedTuple):
    """A picture of a file that a command or a tutorial leaves."""

    command: str
    """Words after `sanlab`; `{out}` is the folder for results. With `tutorial`, empty."""
    page: str
    """File below the folder for results: a page, an SVG, or waves with a view of the same name beside them."""
    width: int = 1400
    height: int = 900
    tutorial: str = ""
    """Tutorial that leaves the file, in the folder `sim_build` of the reader's checkout."""
    until: str = ""
    """Beginning of the heading at which the tutorial is left; empty: its end."""


PICTURES = {
    "report": Picture("run grim_pingpong --out={out}", "report.html", 1180, 1130),
    "waves": Picture("run echo_pingpong --waves --from=10 --to=30 --out={out}", "waves.fst"),
    "sweep": Picture(
        "sweep grim_pingpong --out={out} --axes=size=0,64,1024,16384 "
        "'--designs=usual: ; slow bus: clock.pci_ps=30000 pci.width=32; fast nic: clock.nic_ps=5000'",
        "points.svg",
    ),
    "gap": Picture("", "sweep/echo_gap/points.svg", tutorial="timing_study"),
    "ring": Picture("", "program/report.html", 1180, 900, tutorial="mpi_program", until="3."),
}
TUTORIALS = Path(__file__).parent / "tutorials"
DRAWN_S = 8
"""Wall time that GTKWave has to draw."""


def make(name: str, picture: Picture) -> Path:
    """Run the command of a picture and write the picture; return its path. Raises ToolError if either fails."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        page = _left(picture, Path(out)) / picture.page
        if page.suffix == ".svg":
            return Path(shutil.copyfile(page, FOLDER / f"{name}.svg"))
        target = FOLDER / f"{name}.png"
        if page.suffix == ".fst":
            _waves(page, picture, target)
        else:
            size = f"--window-size={picture.width},{picture.height}"
            _run("the picture", [*BROWSER, size, f"--screenshot={target}", page.as_uri()])
    return target


def _left(picture: Picture, out: Path) -> Path:
    """Run the command of a picture, or follow its tutorial; return the folder of the results."""
    if not picture.tutorial:
        words = shlex.split(picture.command.format(out=out))
        _run("the run", [sys.executable, "-m", "tb.sanlab", *words])
        return out
    reader = Reader(out)
    for block in blocks((TUTORIALS / f"{picture.tutorial}.md").read_text(encoding="utf-8"), picture.until):
        reader.follow(block)
    return reader.checkout / "sim_build"


def _waves(page: Path, picture: Picture, target: Path) -> None:
    """Take the picture of a virtual screen on which GTKWave shows waves. It needs gtkwave, xvfb and imagemagick."""
    inside = f"gtkwave {page.name} {page.stem}.gtkw & sleep {DRAWN_S}; import -window root {shlex.quote(str(target))}"
    screen = f"-screen 0 {picture.width}x{picture.height}x24"
    _run("the picture", ["xvfb-run", "-a", "-s", screen, "sh", "-c", f"cd {shlex.quote(str(page.parent))}; {inside}"])


def _run(what: str, command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise ToolError(f"{what} was not made", f"{command[0]}: {error.strerror}", "install it") from error
    if done.returncode:
        raise ToolError(f"{what} was not made", done.stderr.strip()[-2000:], f"the command was: {' '.join(command)}")


def main(names: Sequence[str]) -> int:
    """Write the named pictures, or all pictures without names; return the exit code."""
    try:
        for name in names or PICTURES:
            print(make(name, PICTURES[name]).relative_to(ROOT))
    except ToolError as error:
        complain(str(error))
        return error.exit_code
    except PageError as error:
        complain(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
