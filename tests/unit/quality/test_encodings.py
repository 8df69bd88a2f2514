"""Text files and the output of programs are UTF-8 on every machine, whatever its locale says.

Strategy: the calls that read or write text are found in the source, also where ruff does not know the type of a path.
The commands then run under a locale whose encoding is ASCII, on texts that are not.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys

import pytest

from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S

PACKAGES = ("pymodels", "firmware", "tb", "tests")
TEXTS = {"read_text": 0, "write_text": 1}
"""Methods, and the position of the encoding among their arguments."""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


SUSPECT = re.compile(
    r"^(?!.*encoding).*(?:\b(?:read_text|write_text)\(|\bopen\((?!\))|\btext=|\buniversal_newlines=)", re.MULTILINE
)
"""Lines that may have such a call: only files with one are parsed."""


def without_encoding(source: str) -> list[int]:
    """Return the lines of calls that leave the encoding to the locale."""
    if not SUSPECT.search(source):
        return []
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return sorted(call.lineno for call in calls if _leaves_it_open(call))


def _leaves_it_open(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    given = {keyword.arg for keyword in call.keywords}
    if "encoding" in given or None in given:
        return False
    if name in TEXTS:
        return len(call.args) <= TEXTS[name]
    if name == "open":
        return _opens_text(call, isinstance(call.func, ast.Attribute))
    return name in ("run", "Popen", "check_output") and bool(given & {"text", "universal_newlines"})


def _opens_text(call: ast.Call, method: bool) -> bool:
    """Return True if a file is opened as text. A method of that name without a mode does not open a file."""
    modes = [argument.value for argument in call.args[not method :] if isinstance(argument, ast.Constant)]
    mode = modes[0] if modes else "" if method else "r"
    return isinstance(mode, str) and mode != "" and set(mode) <= set("rwaxt+")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_text_file_names_its_encoding(package: str) -> None:
    found = {path: without_encoding(path.read_text(encoding="utf-8")) for path in (ROOT / package).rglob("*.py")}
    assert {str(path.relative_to(ROOT)): lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "path.read_text()",
        "path.write_text('a')",
        "open(path)",
        "open(path, 'w')",
        "path.open('a')",
        "subprocess.run(words, text=True)",
    ],
)
def test_a_call_without_an_encoding_is_found(line: str) -> None:
    assert without_encoding(line) == [1]


@pytest.mark.parametrize(
    "line",
    ["path.read_text('utf-8')", "open(path, 'rb')", "path.open('wb')", "mail.open(3)", "run(words, encoding='utf-8')"],
)
def test_a_call_with_an_encoding_or_without_text_passes(line: str) -> None:
    assert without_encoding(line) == []


@pytest.mark.parametrize("words", [["studies"], ["run", "--help"], ["lint", "words"]])
def test_commands_work_in_a_locale_that_is_ascii(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tb.sanlab", *words],
        cwd=ROOT,
        env={**os.environ, **ASCII},
        encoding="utf-8",
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
