"""Reference page of the files that a run leaves: the table of `tb/README.md`, which a test compares with a run."""

from __future__ import annotations

from collections.abc import Iterator

from tb.tools.paths import ROOT

PAGE = "tb/README.md"
HEADING = "## What a run leaves"


def section() -> str:
    """Return the section of the page that describes the files, without its heading."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    return text.partition(f"{HEADING}\n")[2].partition("\n## ")[0].strip()


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# Files that a run leaves", "", "For users who read results with programs of their own.", "")
    yield section()
