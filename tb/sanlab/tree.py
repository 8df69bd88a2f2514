"""Where the laboratory stands: the checkout that this file is part of, or what the wheel carries beside it.

`pymodels`, `firmware` and `tb` are never installed under these names. They are imported in child processes only, whose
path begins with the tree; so a folder of the user that has one of these names is not in the way, nor are we in his.
"""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
CARRIED = HERE / "_tree"
"""The tree in a wheel."""
TREE = CARRIED if CARRIED.is_dir() else HERE.parents[1]
START = TREE / "tb" / "sanlab" / "start.py"
"""The program of all children."""
OUT = "SANLAB_OUT"
"""The environment variable that says where results go."""


def out() -> Path:
    """The folder of all results: as the environment says, that of the checkout within it, else one in the working
    directory.
    """
    if os.environ.get(OUT):
        return Path(os.environ[OUT]).absolute()
    here = Path.cwd()
    return (TREE if here.resolve().is_relative_to(TREE) else here) / "sim_build"


def environment() -> dict[str, str]:
    """The environment of a child."""
    return {**os.environ, OUT: str(out())}
