"""C sources of a layer's paths, and the check that a cost table was counted from them."""

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
"""Include folders for files that are not beside the including file.

A layer copied to another root thus finds `../../common/nic/pulse.h` and `../../nics/fifo/cells.h` of this tree.
"""


def by_hand(folder: Path) -> Path:
    """Return the folder with hand-written paths for a side of a layer, which are compared only and never charged.

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
    """Raise StaleError if a table was not counted from its C sources.

    Tables without a fingerprint and without a `paths.c` were not counted from C and are accepted. Tables of
    hand-written paths are accepted if their sources, which are tests, are not installed.
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
