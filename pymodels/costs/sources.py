"""The C sources of a layer's paths, and the check that a table of costs was counted from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pymodels import fingerprints
from pymodels.costs import compositions
from pymodels.costs.targets import Target
from pymodels.generated import BYHAND
from pymodels.roots import TREE

FIRMWARE = TREE / "firmware"
HEADER = FIRMWARE / "paths.h"
"""Header that every `paths.c` includes."""
FOLDERS = (FIRMWARE, FIRMWARE / "common" / "nic")
"""Folders for included files that are not beside the file that includes them: for a layer that was copied to another
root, `../../common/nic/pulse.h` and `../../nics/fifo/cells.h` are those of this tree.
"""


def by_hand(folder: Path) -> Path:
    """Return the folder with the paths of a side of a layer written by hand, for comparison; no layer charges them.

    It is among the tests of the layer. Its tables are texts of the layer's `generated.bz2`.
    """
    return folder.parents[2] / "tests" / "unit" / folder.parent.name / BYHAND / folder.name


def sources(folder: Path) -> list[Path]:
    """Return the C files that determine the counts of a layer's folder: `paths.c`, the headers beside it,
    `firmware/paths.h`, and all files that these include.
    """
    return fingerprints.with_included([folder / "paths.c", *folder.glob("*.h"), HEADER], FOLDERS)


def fingerprint(folder: Path, target: Target) -> str:
    """Return the fingerprint of a layer's counts on a processor: C sources, compositions and compiler flags."""
    parts = (compositions.key(one) for one in compositions.declared(folder))
    return fingerprints.fingerprint(sources(folder), [*target.flags, *parts])


def check(file: Path, compiled: Mapping[str, object], target: Target) -> None:
    """Raise StaleError when a table was not counted from the C sources beside it, or from those written by hand.

    A table without a fingerprint and without a `paths.c` was not counted from C; it is accepted. So is a table of paths
    written by hand where their sources, which are tests, are not installed.
    """
    folder = file.parent
    if folder.parent.name == BYHAND:
        folder = by_hand(folder.parents[1] / folder.name)
        if not folder.is_dir():
            return
    if (folder / "paths.c").exists():
        now = fingerprint(folder, target)
    elif fingerprints.KEY in compiled:
        now = "paths.c is missing"
    else:
        return
    fingerprints.check(file, compiled, now, command(file))


def command(file: Path) -> str:
    """Return the command that counts the paths of a table again: `costs echo`."""
    folder = file.parent
    return f"costs {folder.parents[1].name if folder.parent.name == BYHAND else folder.parent.name}"
