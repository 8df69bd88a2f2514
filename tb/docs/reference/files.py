"""Reference page of the files that a run leaves: the table of `tb/README.md`, which a test compares with a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tb.tools.paths import ROOT

PAGE = "tb/README.md"
HEADING = "## What a run leaves"
RELATIVE = re.compile(r"\]\((?![a-z]+:|#)")
"""Beginning of a link relative to the page."""


def section() -> str:
    """Return the section of the page that describes the files, without its heading, with links from the reference."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    found = text.partition(f"{HEADING}\n")[2].partition("\n## ")[0].strip()
    return RELATIVE.sub(f"](../{PurePosixPath(PAGE).parent}/", found)


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# Files that a run leaves", "", "For users who read results with programs of their own.", "")
    yield section()
