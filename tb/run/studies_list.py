"""`python -m tb.run.studies_list`: behind `make studies`: every study and the question it answers, one line each.

The studies are read, not imported: a study that does not even parse still has its line.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tb.plan import studies


def question(path: Path) -> str:
    """The first line of a study's docstring; a remark in brackets when there is none."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        return f"(does not parse: {error.msg}, line {error.lineno})"
    return text.splitlines()[0] if text else "(asks nothing: its docstring is missing)"


def lines(files: Mapping[str, Path]) -> Iterator[str]:
    """Name and question of each study, in two columns."""
    width = max(map(len, files), default=0)
    for name, path in files.items():
        yield f"{name:{width}}  {question(path)}"


def main() -> int:
    """Print the list; 0. A reader that has seen enough (`| head`) may leave early."""
    try:
        for line in lines(studies.files()):
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
