"""Comparison of the sources that results depend on with those of an earlier commit, without comments and docstrings.

A record of measured values names the commit of its runs. It is valid while no file that a result depends on has changed
in meaning. Files are compared as Python syntax trees, TOML tables, or tokens.
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
"""Folders of the checkout, and of any other root, that results depend on."""
ASIDE = (
    *("ask", "bench", "calibrate", "campaign", "docs", "explore", "figures", "fpga", "fuzz", "quality", "sweep"),
    "uncertainty",
)
"""Folders of tb that no run imports."""
SUFFIXES = {".py", ".sv", ".svh", ".c", ".h", ".cpp", ".toml", ".f", ".bz2"}
SHOWN_ONLY = ("agents", "board", "build", "report", "run", "sanlab", "stuck", "tools")
"""Folders of tb that start runs or show results and do not affect simulated time."""
PUBLISHED_ONLY = (
    *("pymodels/published.py", "pymodels/published_roles.py", "pymodels/published_scores.py"),
    *("pymodels/published.toml", "pymodels/results.py", "pymodels/errors.py"),
    *("tb/studies/measured.toml", "tb/lab/on_machine.py"),
)
"""Published values, format of results, definitions of metrics, and the command of runs without a simulator."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def head(root: Path = ROOT) -> str:
    """Return the full hash of the checked-out commit. Raises ToolError outside a git checkout."""
    return git(root, "rev-parse", "HEAD").strip()


def is_known(commit: str, root: Path = ROOT) -> bool:
    """Return True if the commit is an ancestor of the checked-out commit."""
    try:
        git(root, "merge-base", "--is-ancestor", commit, "HEAD")
    except ToolError:
        return False
    return True


def changed_since(commit: str, root: Path = ROOT) -> list[str]:
    """Return the files that results depend on and whose meaning differs between a commit and the working tree.

    Args:
        commit: Hash that git knows.
        root: Root of the checkout.

    Returns:
        Sorted paths below `root`, including added, removed and moved files.

    Raises:
        ToolError: `root` is not a git checkout, or the commit is unknown.
    """
    listed = git(root, "diff", "--name-only", "--no-renames", "-z", commit, "--", *SOURCES)
    names = sorted({*filter(follows, filter(None, listed.split("\0"))), *untracked(root)})
    return [name for name in names if not _same(_old(root, commit, name), _new(root, name), PurePosixPath(name).suffix)]


def untracked(root: Path = ROOT) -> list[str]:
    """Return the untracked files that results depend on, such as those of a new layer.

    Raises ToolError outside a git checkout.
    """
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *SOURCES)
    return sorted(name for name in listed.split("\0") if name and follows(name))


def follows(name: str) -> bool:
    """Return True if results depend on the file of this name, a path below the checkout."""
    path = PurePosixPath(name)
    if path.suffix not in SUFFIXES or name in PUBLISHED_ONLY:
        return False
    return path.parts[0] != "tb" or (len(path.parts) > 2 and path.parts[1] not in SHOWN_ONLY and not aside(path))


def aside(path: PurePath) -> bool:
    """Return True if no run imports the file at this path below the checkout."""
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
    """Return True if a file is compared by the hash of its content."""
    return PurePosixPath(name).suffix == ".bz2"


def _same(old: str | None, new: str | None, suffix: str) -> bool:
    if old is None or new is None:
        return False
    try:
        return old == new or meaning(old, suffix) == meaning(new, suffix)
    except (SyntaxError, ConfigError):
        return False


def meaning(text: str, suffix: str) -> object:
    """Return the content of a source without comments, docstrings and layout; equal for equivalent sources.

    Args:
        text: Text of the source.
        suffix: Suffix of the file's name, `.py` for Python.

    Raises:
        SyntaxError: Invalid Python.
        ConfigError: Invalid TOML.
    """
    return MEANINGS.get(suffix, _tokens)(text)


class _Undocumented(ast.NodeTransformer):
    """Transformer that removes docstrings of modules, classes, functions and attributes."""

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
