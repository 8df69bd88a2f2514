"""`python -m tb.run.studies_list`: behind `make studies`: every study and the question it answers, one line each.
`--in-c`: only those that run with `nic.firmware=c`, as their layers say.

Without it the studies are read, not imported: a study that does not even parse still has its line.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tb.plan import studies
from tb.plan.firmware import runs_in_c


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


def files_in_c() -> dict[str, Path]:
    """The studies that run with firmware in C."""
    return {name: path for name, path in studies.files().items() if runs_in_c(studies.load(name))}


def main(arguments: Sequence[str] = ()) -> int:
    """Print the list; 0. A reader that has seen enough (`| head`) may leave early."""
    parser = argparse.ArgumentParser(prog="make studies", description="List the studies.")
    parser.add_argument("--in-c", action="store_true", help="only those that run with nic.firmware=c")
    in_c = parser.parse_args(arguments).in_c
    try:
        for line in lines(files_in_c() if in_c else studies.files()):
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
