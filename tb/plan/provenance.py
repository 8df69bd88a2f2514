"""Commits of the sources and versions of the tools of a run."""

from __future__ import annotations

import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path

from pymodels.roots import TREE, roots
from tb.tools.git import git
from tb.tools.programs import ToolError

SANLAB = "sanlab"
UNKNOWN = "unknown"
DIRTY = "+changes"
"""Suffix of a commit if the working tree has changes or untracked files."""
VERSION = re.compile(r'^version = "(.+)"', re.MULTILINE)


@cache
def commits() -> dict[str, str]:
    """Return the Git commit of each root by name, as of the first call in this process.

    The commit is `unknown` for a root outside a repository, such as an installed wheel, and without git.
    """
    named: dict[str, str] = {}
    for root in roots():
        name = SANLAB if root == TREE else root.name
        while name in named:
            name += "'"
        named[name] = commit(root)
    return named


def commit(root: Path) -> str:
    """Return the checked-out commit of a folder, with `+changes` if the folder differs from it."""
    head = _git(root, "rev-parse", "--verify", "HEAD")
    if head is None or not _git(root, "ls-files", "--", "."):
        return UNKNOWN
    changes = _git(root, "status", "--porcelain", "--", ".")
    return head if changes == "" else head + DIRTY


def _git(folder: Path, *words: str) -> str | None:
    """Return git's output without surrounding white space, or None if git fails."""
    try:
        return git(folder, *words).strip()
    except ToolError:
        return None


def versions(simulator: str) -> dict[str, str]:
    """Return the versions of sanlab, Python, packages and the simulator (as it reports itself)."""
    packages = {name: _version(name) for name in ("cocotb", "numpy")}
    return {SANLAB: own_version(), "python": platform.python_version(), **packages, "simulator": simulator}


@cache
def own_version() -> str:
    """Return the version of sanlab, from pyproject.toml in a checkout, else from the installed package."""
    project = TREE / "pyproject.toml"
    found = VERSION.search(project.read_text(encoding="utf-8")) if project.is_file() else None
    return found[1] if found else _version(SANLAB)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return UNKNOWN
