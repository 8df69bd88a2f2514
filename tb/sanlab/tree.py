"""Location of the laboratory: the checkout of this file, or the tree in the wheel.

`pymodels`, `firmware` and `tb` are never installed under these names. Only child processes import them, with the tree
first on their module path. User folders of the same names therefore do not interfere.
"""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
CARRIED = HERE / "_tree"
"""Tree in a wheel."""
TREE = CARRIED if CARRIED.is_dir() else HERE.parents[1]
START = TREE / "tb" / "sanlab" / "start.py"
"""Script that all children run."""
OUT = "SANLAB_OUT"
"""Environment variable with the folder for results."""


def out() -> Path:
    """Return the folder of all results: from the environment, in the checkout, or in the working directory."""
    if os.environ.get(OUT):
        return Path(os.environ[OUT]).absolute()
    here = Path.cwd()
    return (TREE if here.resolve().is_relative_to(TREE) else here) / "sim_build"


def environment() -> dict[str, str]:
    """Return the environment of a child."""
    return {**os.environ, OUT: str(out())}
