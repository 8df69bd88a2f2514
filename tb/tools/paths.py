"""Folders of the laboratory, and the names of the simulators."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Root of the checkout, or of the tree in a wheel."""
CHECKOUT = (ROOT / "pyproject.toml").is_file()
OUT = Path(os.environ.get("SANLAB_OUT") or ROOT / "sim_build").absolute()
"""Folder of the results."""
SIMULATORS = ("verilator", "icarus")


def builds() -> Path:
    """Return the folder of builds: from the environment, in the user's cache, or next to the results.

    The names of builds contain a hash of their content, so that all checkouts of a user share them.
    """
    given = os.environ.get("SANLAB_BUILDS")
    if given:
        return Path(given).absolute()
    cache = user_cache()
    return cache / "sanlab" / "builds" if writable(cache) else OUT / "builds"


def user_cache() -> Path:
    """Return this user's folder for caches, which may not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


def writable(folder: Path) -> bool:
    """Return True if a folder is writable or can be created."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return folder.is_absolute() and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
