"""Comparison of the sources that results follow from with those of an earlier commit, comments and docstrings aside.

A record of measured values names the commit of its runs. The record is valid as long as no file that a result follows
from has changed in meaning since then. Files are compared as Python's abstract syntax, as TOML tables, or as tokens.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path, PurePath, PurePosixPath

from pymodels.errors import ConfigError
from pymodels.toml import parsed
from tb.tools.git import git
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

SOURCES = ("hdl", "pymodels", "firmware", "tb")
"""Folders of the checkout, and of any other root, that results follow from."""
ASIDE = ("ask", "bench", "campaign", "explore", "figures", "fuzz", "quality", "sweep", "uncertainty")
"""Folders of tb that no run imports."""
SUFFIXES = {".py", ".sv", ".svh", ".c", ".h", ".cpp", ".toml", ".f", ".bz2"}
SHOWN_ONLY = ("agents", "build", "report", "run", "sanlab", "stuck", "tools")
"""Folders of tb that start runs or show results: no simulated time follows from them."""
PUBLISHED_ONLY = (
    *("pymodels/published.py", "pymodels/published.toml", "pymodels/results.py", "pymodels/errors.py"),
    "tb/studies/measured.toml",
)
"""Published values, the form of results, definitions of metrics."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def head(root: Path = ROOT) -> str:
    """Return the full hash of the commit that is checked out. Raises ToolError outside a git checkout."""
    return git(root, "rev-parse", "HEAD").strip()


def is_known(commit: str, root: Path = ROOT) -> bool:
    """Return True if the commit is an ancestor of the commit that is checked out."""
    try:
        git(root, "merge-base", "--is-ancestor", commit, "HEAD")
    except ToolError:
        return False
    return True


def changed_since(commit: str, root: Path = ROOT) -> list[str]:
    """List the files that results follow from and whose meaning differs between a commit and the working tree.

    Args:
        commit: a hash that git knows.
        root: the checkout.

    Returns:
        Paths below `root`, sorted. A file that was added, removed or moved is listed.

    Raises:
        ToolError: `root` is not a git checkout, or the commit is unknown.
    """
    listed = git(root, "diff", "--name-only", "--no-renames", "-z", commit, "--", *SOURCES)
    names = sorted({*filter(follows, filter(None, listed.split("\0"))), *untracked(root)})
    return [name for name in names if not _same(_old(root, commit, name), _new(root, name), PurePosixPath(name).suffix)]


def untracked(root: Path = ROOT) -> list[str]:
    """List the new files that results follow from and that git does not track, such as those of a new layer.

    Raises ToolError outside a git checkout.
    """
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *SOURCES)
    return sorted(name for name in listed.split("\0") if name and follows(name))


def follows(name: str) -> bool:
    """Return True if results follow from the file of this name, a path below the checkout."""
    path = PurePosixPath(name)
    if path.suffix not in SUFFIXES or name in PUBLISHED_ONLY:
        return False
    return path.parts[0] != "tb" or (len(path.parts) > 2 and path.parts[1] not in SHOWN_ONLY and not aside(path))


def aside(path: PurePath) -> bool:
    """Return True for a file, by its path below the checkout, that no run imports."""
    top, folder, *below = (*path.parts, "", "")
    return top == "tb" and (folder in ASIDE or (folder == "studies" and below[1:2] in (["explore"], ["fuzz"])))


def _old(root: Path, commit: str, name: str) -> str | None:
    try:
        return git(root, "rev-parse" if _is_binary(name) else "show", f"{commit}:{name}")
    except ToolError:
        return None


def _new(root: Path, name: str) -> str | None:
    path = root / name
    if not path.is_file():
        return None
    return git(root, "hash-object", "--", name) if _is_binary(name) else path.read_text(encoding="utf-8")


def _is_binary(name: str) -> bool:
    """Return True for a file that is compared by the hash of its content."""
    return PurePosixPath(name).suffix == ".bz2"


def _same(old: str | None, new: str | None, suffix: str) -> bool:
    if old is None or new is None:
        return False
    try:
        return old == new or meaning(old, suffix) == meaning(new, suffix)
    except (SyntaxError, ConfigError):
        return False


def meaning(text: str, suffix: str) -> object:
    """Return what a source says without comments, docstrings and layout; equal for sources that do the same.

    Args:
        text: the source.
        suffix: of the file's name, `.py` for Python.

    Raises:
        SyntaxError: Python that does not parse.
        ConfigError: TOML that does not parse.
    """
    return MEANINGS.get(suffix, _tokens)(text)


class _Undocumented(ast.NodeTransformer):
    """Removes docstrings of modules, classes, functions and attributes: strings that are statements."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else node


def _syntax(text: str) -> str:
    return ast.dump(_Undocumented().visit(ast.parse(text)))


def _tokens(text: str) -> list[str]:
    return _COMMENT.sub(lambda found: found.group(1) or " ", text).split()


def _table(text: str) -> object:
    return parsed(Path("source.toml"), text)


MEANINGS: dict[str, Callable[[str], object]] = {".py": _syntax, ".toml": _table}
