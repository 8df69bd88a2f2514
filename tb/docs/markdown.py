"""Markdown elements of the generated pages: tables, code, docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

SECTION = re.compile(r"(Args|Arguments|Returns|Raises|Yields|Attributes|Note|Example|Examples):")
ENTRY = re.compile(r"(\*{0,2}\w[\w., ]*): (.*)")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; line ends and bars in its cells are escaped."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell(text) for text in row)} |"
    yield ""


def cell(text: str) -> str:
    """Return a text as one line for the cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def code(text: str) -> str:
    """Return a text as inline code; an empty text stays empty."""
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}" if text else ""


def docstring(text: str) -> Iterator[str]:
    """Yield a docstring in Google style as Markdown: each section becomes a bold heading with a list."""
    section = False
    for line in text.splitlines():
        stripped = line.strip()
        if SECTION.fullmatch(line):
            section = True
            yield from ("", f"**{stripped[:-1]}**", "")
        elif section and (not stripped or line.startswith(" ")):
            yield _entry(line)
        else:
            section = False
            yield escape(line)


def _entry(line: str) -> str:
    """Return a line of a section as the item of a list, or as the continuation of one."""
    text = line.strip()
    if not text or line.startswith(" " * 8):
        return f"  {escape(text)}".rstrip()
    found = ENTRY.fullmatch(text)
    return f"- `{found[1]}`: {escape(found[2])}" if found else f"- {escape(text)}"


def escape(line: str) -> str:
    """Return a line of a docstring that Markdown shows as it is written; inline code stays code."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if at % 2 else re.sub(r"([*_<>#\[\]{}$~])", r"\\\1", part) for at, part in enumerate(parts))
