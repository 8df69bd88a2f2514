"""Rules about docstrings and comments: first words, ambiguous words, and the length of sentences."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tb.quality.check import Check
from tb.tools.paths import ROOT

LONGEST = 25
"""Largest number of words in a sentence of a docstring."""
FOLDERS = ("pymodels", "firmware", "tb", "tests")
POINTING = re.compile(
    r"(What|Whether|Whatever|Where|How|Of|By|With|The same|It|Its|They|Those|One|As|Every|Behind|Which|Who|Nobody"
    r"|When|That|This|There)\b"
)
"""First words that leave a docstring without its subject."""
NOMINAL = re.compile(r"(The|A|An|All|Each|Any|No|Some|Number|Nothing|None|Only|Both)\b")
"""First words of a noun phrase, where the docstring of a function begins with a verb."""
AMBIGUOUS = re.compile(
    r"\b(nobody|somebody|whoever|mend(?:s|ed|ing)?|tells?|told|asks?|asked|looked|stands?(?! for\b|-)|stood"
    r"|there is not|there are none|is none of|is no number|the one that|ones that)\b",
    re.IGNORECASE,
)
"""Words with a meaning of their own in the project's past, for which the field has a standard term."""
QUESTION = re.compile(r"(?:[^.!]|\.(?=\S))*\?")
"""First sentence of a study: the question that it answers. Its section numbers, such as 6.5.1, have full stops."""
CODE = re.compile(r"`[^`]*`|^\s+\**\w+:(?=\s)", re.MULTILINE)
"""Quoted code, and names of arguments in sections: identifiers, not words of a sentence."""
SECTION = re.compile(r"\n\s*(?:Args|Attributes|Examples?|Raises|Returns|Yields):")
LISTED = re.compile(r"\s*(?:[-*|>]|\d+\.|```|\s{8})|.*(?: \| |\s{3}|──)")


class Docstring(NamedTuple):
    """A docstring: its line, its text without indentation, and whether it describes a function."""

    line: int
    text: str
    of_function: bool


def docstrings(source: str) -> Iterator[Docstring]:
    """Yield the docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(ast.parse(source)):
        body: object = getattr(node, "body", [])
        for place, statement in enumerate(body if isinstance(body, list) else []):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                value = statement.value.value
                if isinstance(value, str):
                    function = place == 0 and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    text = textwrap.dedent(f"{' ' * statement.col_offset}{value}").strip()
                    yield Docstring(statement.lineno, text, function and not _is_property(node))


def _is_property(node: ast.AST) -> bool:
    return any("property" in ast.unparse(one) for one in getattr(node, "decorator_list", ()))


def in_docstring(docstring: Docstring) -> Iterator[str]:
    """Yield the violations of a docstring."""
    first = POINTING.match(docstring.text)
    if first and not QUESTION.match(docstring.text):
        yield f"docstring begins with {first[0]!r}: begin with the verb, or name the thing"
    elif docstring.of_function and (first := NOMINAL.match(docstring.text)):
        yield f"docstring of a function begins with {first[0]!r}: begin with a verb, such as Return"
    yield from ambiguous(CODE.sub("", docstring.text))
    for sentence in sentences(docstring.text):
        if (words := len(sentence.split())) > LONGEST:
            yield f"sentence of {words} words, at most {LONGEST}: {sentence[:40]} ..."


def ambiguous(text: str) -> Iterator[str]:
    """Yield a complaint about each ambiguous word of a text."""
    for found in AMBIGUOUS.finditer(text):
        yield f"{found[0].strip()!r}: write the standard term"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a docstring, without its sections, lists, tables and code."""
    prose = "\n".join(line for line in SECTION.split(text)[0].splitlines() if not LISTED.match(line))
    for paragraph in re.split(r"\n\s*\n", prose):
        yield from re.split(r"(?<=[.!?;:])\s", " ".join(paragraph.split()))


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment of a Python source."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def violations(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and complaint for each violation in a Python source."""
    for docstring in docstrings(source):
        yield from ((docstring.line, complaint) for complaint in in_docstring(docstring))
    for line, comment in comments(source):
        yield from ((line, complaint) for complaint in ambiguous(comment))


def _look(path: Path) -> list[str]:
    source = path.read_text("utf-8")
    return [f"{path.relative_to(ROOT)}:{line}: {complaint}" for line, complaint in violations(source)]


def _sentences() -> tuple[str, list[str]]:
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return f"{len(files)} files", [line for path in files for line in _look(path)]  # ast.parse fails in threads


CHECKS = [Check("sentences", _sentences)]
