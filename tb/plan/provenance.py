"""Commits of the sources and versions of the tools that a run is made with."""

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
"""Behind a commit: the working tree had changes, or files that are not in the repository."""
VERSION = re.compile(r'^version = "(.+)"', re.MULTILINE)


@cache
def commits() -> dict[str, str]:
    """Return the Git commit of each root by the root's name, as they were at the first call in this process.

    `unknown` stands for a root that is no part of a repository, such as an installed wheel, and where git is missing.
    """
    named: dict[str, str] = {}
    for root in roots():
        name = SANLAB if root == TREE else root.name
        while name in named:
            name += "'"
        named[name] = commit(root)
    return named


def commit(root: Path) -> str:
    """Return the commit that a folder was checked out from, with `+changes` where the folder differs from it."""
    head = _git(root, "rev-parse", "--verify", "HEAD")
    if head is None or not _git(root, "ls-files", "--", "."):
        return UNKNOWN
    changes = _git(root, "status", "--porcelain", "--", ".")
    return head if changes == "" else head + DIRTY


def _git(folder: Path, *words: str) -> str | None:
    """Return what git prints without surrounding white space, or None where it fails."""
    try:
        return git(folder, *words).strip()
    except ToolError:
        return None


def versions(simulator: str) -> dict[str, str]:
    """Return the versions of sanlab, Python and packages; `simulator` is what the simulator says of itself."""
    packages = {name: _version(name) for name in ("cocotb", "numpy")}
    return {SANLAB: own_version(), "python": platform.python_version(), **packages, "simulator": simulator}


@cache
def own_version() -> str:
    """Return the version of sanlab: of a checkout what its pyproject.toml says, else of the installed package."""
    project = TREE / "pyproject.toml"
    found = VERSION.search(project.read_text(encoding="utf-8")) if project.is_file() else None
    return found[1] if found else _version(SANLAB)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return UNKNOWN
