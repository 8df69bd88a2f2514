"""Fingerprints of C sources, stored in generated files and compared with the sources at every run.

Fingerprints cover the tokens of the sources, so that comments and white space may change without recompilation.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.roots import TREE

KEY = "sources_sha256"
"""Name of the fingerprint in the section `compiled` of a generated file."""
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
SPLICE = re.compile(r"\\\r?\n")
COMMENT = re.compile(r"""/\*.*?(?:\*/|\Z)|//[^\n]*|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL)
ASSEMBLY_COMMENT = re.compile(r"""![^\n]*|("(?:\\.|[^"\\\n])*")""")
DIRECTIVE = re.compile(r"^[ \t]*#.*", re.MULTILINE)
END = "\x01"
"""Token for a significant line end: of a preprocessor directive, or of an instruction of assembly."""
TOKEN = re.compile(
    r"""\#[ \t]*define[ \t]+\w+\(?                  # NAME( is another macro than NAME (
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | \.?\d(?:[eEpP][+-]|[\w.])* | \w+
    | <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | [<>=!+\-*/%&|^]= | && | \|\| | \#\# | \S
    """,
    re.VERBOSE,
)


class StaleError(SanlabError):
    """Generated file that does not match its sources."""

    exit_code = EXIT_CONFIGURATION


def tokens(text: str, by_line: bool = False) -> list[str]:
    """Return the preprocessing tokens of C, or of assembly with `by_line`, where every line end is significant.

    Folders in `#include` lines are dropped, since a copied layer has other folders; included files have fingerprints
    too.
    """
    text = re.sub(r'^([ \t]*#[ \t]*include[ \t]*")[^"\n]*/', r"\1", text, flags=re.MULTILINE)
    bare = COMMENT.sub(lambda found: found[1] or " ", SPLICE.sub("", text))
    if by_line:
        bare = ASSEMBLY_COMMENT.sub(lambda found: found[1] or " ", bare)
    ended = re.sub(r"\S[^\n]*", rf"\g<0>{END}", bare) if by_line else DIRECTIVE.sub(rf"\g<0>{END}", bare)
    return [re.sub(r"[ \t]+", " ", token) if token[0] == "#" else token for token in TOKEN.findall(ended)]


@lru_cache(1024)
def _digest(text: bytes, by_line: bool) -> str:
    parts = tokens(text.decode(errors="surrogateescape").replace("\r\n", "\n"), by_line)
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


@lru_cache(1024)
def _included_by(text: bytes) -> tuple[str, ...]:
    return tuple(INCLUDE.findall(text.decode(errors="replace")))


def with_included(files: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """Return the files and all files that they include, directly or indirectly.

    Included files are searched beside the including file, then in `folders`; files that are not found are left out.
    """
    found: dict[Path, None] = {}
    new = [path.resolve() for path in files]
    while new:
        path = new.pop()
        if path not in found:
            found[path] = None
            for name in _included_by(path.read_bytes()):
                places = (folder / name for folder in (path.parent, *folders))
                new += [at.resolve() for at in places if at.is_file()][:1]
    return list(found)


def fingerprint(files: Iterable[Path], facts: Iterable[str] = ()) -> str:
    """Return a SHA-256 over the tokens of files and over further facts, such as compiler flags.

    The order and the folders of the files have no influence.
    """
    digests = sorted(_digest(path.read_bytes(), path.suffix == ".S") for path in files)
    return hashlib.sha256("\0".join([*digests, *facts]).encode()).hexdigest()


def check(file: Path, compiled: Mapping[str, object], now: str, command: str) -> None:
    """Raise StaleError if a generated file has another fingerprint than its sources.

    Args:
        file: The generated file, for the message.
        compiled: Its section `compiled`.
        now: Fingerprint of the present sources.
        command: Name and layer for the command that generates the file, such as `costs echo`.
    """
    if compiled.get(KEY) != now:
        cause = "was generated from other C sources than those beside it, and a run would use the old ones"
        raise StaleError(shown(file), cause, f"generate it again: {remake(command, file)} (needs clang-16)")


def remake(command: str, file: Path) -> str:
    """Return the command that generates a file of the tree (`make costs LAYER=echo`) or of another root."""
    name, layer = command.split(" ", 1)
    return f"`make {name} LAYER={layer}`" if file.is_relative_to(TREE) else f"`sanlab {name} {layer}`"


def shown(file: Path) -> str:
    """Return the path of a file, relative to the tree if it is in the tree."""
    return str(file.relative_to(TREE) if file.is_relative_to(TREE) else file)
