"""Rules for English: rejected phrases with their replacements, and the width of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tb.quality.check import Check
from tb.tools.paths import ROOT

WIDEST = 120
"""Maximum number of characters of a page's line, outside of tables and code blocks."""
BETTER = {
    r"counts it up first": "increments it before ...",
    r"asleep until told|until it is told": "stopped until a wake-up",
    r"the stronger word": "overrides, or has priority",
    r"the letter of the": "as ... says",
    r"heed(?:s|ed|ing)?": "checks, obeys",
    r"outlets?": "output, or output port",
    r"hears? of|heard of": "is notified, gets, notices",
    r"(?:the|its|their|a) begin": "start, or beginning",
    r"reckon(?:s|ed|ing)?": "compute",
    r"befalls?|befell": "happens to",
    r"dearer": "takes longer, costs more",
    r"(?:is|are|was|were|be|been|not) told of": "is notified of, gets, is reported",
    r"in vain": "without a result, finds nothing",
    r"com(?:es?|ing) round to|came round to": "reaches",
    r"stands? nowhere|stood nowhere": "is missing",
    r"com(?:es?|ing) to rest|came to rest": "becomes idle, arrives",
}
"""Rejected phrases with their replacements. Metrics of studies and published rows keep their names."""
PHRASES = re.compile(rf"\b(?:{'|'.join(BETTER)})\b", re.IGNORECASE)
FOLDERS = ("hdl", "pymodels", "firmware", "tb", "tests")
SUFFIXES = (".md", ".py", ".sv", ".svh", ".toml")
"""Suffixes of checked files. C is excluded: its instruction counts are recorded with a hash of its text."""
NAMES = ("pymodels/published.toml", "tb/figures/fidelity.md", "tb/figures/numbers.md")
"""Files with names of published rows, which records refer to."""
OWN = ("tb/quality/words.py", "tests/unit/quality/test_quality_words.py")


def texts() -> list[Path]:
    """Return all checked pages and sources, sorted. CHANGELOG.md is excluded."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted([*found, ROOT / "README.md"])


def stumbles(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and replacement of each rejected phrase in a text."""
    for found in PHRASES.finditer(re.sub(r"\s", " ", text)):
        (better,) = {better for phrase, better in BETTER.items() if re.fullmatch(phrase, found[0], re.IGNORECASE)}
        yield text.count("\n", 0, found.start()) + 1, f"{found[0]!r}: write {better}"


def too_wide(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are too long, except tables, code blocks and unbreakable words."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if len(line) > WIDEST and not code and not line.lstrip().startswith("|") and len(line.split()) > 1:
            yield number, f"{len(line)} characters; at most {WIDEST} outside of tables and code"


def _words() -> tuple[str, list[str]]:
    places = {path.relative_to(ROOT).as_posix(): path for path in texts()}
    read = {place: path for place, path in places.items() if place not in (*NAMES, *OWN)}
    found = [
        f"{place}:{line}: {what}" for place, path in read.items() for line, what in stumbles(path.read_text("utf-8"))
    ]
    return f"{len(read)} files", found


def _pages() -> tuple[str, list[str]]:
    pages = [path for path in texts() if path.suffix == ".md"]
    return f"{len(pages)} pages", [
        f"{path.relative_to(ROOT)}:{line}: {what}" for path in pages for line, what in too_wide(path.read_text("utf-8"))
    ]


CHECKS = [Check("words", _words), Check("width of pages", _pages)]
