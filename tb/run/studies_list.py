"""`make studies` (`python -m tb.run.studies_list`): every study with its question, one line each.

With a study's name, the command lists the settings of that study. With `--in-c` it lists only the studies that run with
`nic.firmware=c`. Otherwise the studies are parsed without import, so that invalid ones are listed too.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pymodels.errors import SanlabError
from pymodels.profiles import DEFAULT_PROFILE, parse_settings
from tb.plan import described, studies
from tb.plan.described import settings_of
from tb.plan.firmware import runs_in_c
from tb.report.terminal import complain


def question(path: Path) -> str:
    """Return the first line of a study's docstring, or a remark in brackets without one."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    except (SyntaxError, ValueError) as error:  # ValueError: invalid UTF-8
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        return f"(invalid Python: {getattr(error, 'msg', error)}{line})"
    return text.splitlines()[0] if text else "(no question: the docstring is missing)"


def lines(files: Mapping[str, Path]) -> Iterator[str]:
    """Yield name and question of each study, in two columns."""
    width = max(map(len, files), default=0)
    for name, path in files.items():
        yield f"{name:{width}}  {question(path)}"


def files_in_c() -> dict[str, Path]:
    """Return the studies that run with firmware in C."""
    return {name: path for name, path in studies.files().items() if _runs_in_c(name)}


def about(study: str, settings: str, profile: str) -> Iterator[str]:
    """Yield the question of a study and all its settings as text. Raises ConfigError for an unknown name.

    Args:
        study: Name of the study.
        settings: Text of SET; `layer=...` in it chooses the message layer whose options are listed.
        profile: Name of the hardware profile; if empty, the values of the default profile are only mentioned.
    """
    info = studies.load(study).chosen(parse_settings(settings))
    known = settings_of(info, profile)
    yield f"{info.name}: {info.question}"
    yield ""
    yield from described.lines([one for one in known if profile or not one.group.startswith("profile ")])
    if not profile:
        many = sum(one.group.startswith("profile ") for one in known)
        yield f"and the {many} values of the profile: make studies STUDY={study} PROFILE={DEFAULT_PROFILE}"


def _runs_in_c(name: str) -> bool:
    """Return True if a study can be loaded and runs with firmware in C."""
    return not studies.fault(name) and runs_in_c(studies.load(name))


def main(arguments: Sequence[str] = ()) -> int:
    """Print the list, or the settings of one study; return the exit code. A closed pipe (`| head`) is not an error."""
    parser = argparse.ArgumentParser(prog="sanlab studies", description="List the studies, or the settings of one.")
    parser.add_argument("study", nargs="?", default="", help="list the settings of this study")
    parser.add_argument(
        "--set", default="", help='settings in force; "layer=..." selects the layer whose options are listed'
    )
    parser.add_argument("--profile", default="", help="also list the values of this hardware profile")
    parser.add_argument("--in-c", action="store_true", help="list only the studies that run with nic.firmware=c")
    words = parser.parse_args(arguments)
    try:
        if words.study:
            text = about(words.study, words.set, words.profile)
        else:
            text = lines(files_in_c() if words.in_c else studies.files())
        for line in text:
            print(line)
        sys.stdout.flush()
    except SanlabError as error:
        complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
