"""Folders of the laboratory, and the names of the simulators."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout, or what a wheel carries of it."""
CHECKOUT = (ROOT / "pyproject.toml").is_file()
OUT = Path(os.environ.get("SANLAB_OUT") or ROOT / "sim_build").absolute()
"""Where results go."""
SIMULATORS = ("verilator", "icarus")


def builds() -> Path:
    """Return the folder of builds: as the environment says, else in the user's cache, else beside the results.

    Builds are named by a hash of their content, so all checkouts of a user share them.
    """
    given = os.environ.get("SANLAB_BUILDS")
    if given:
        return Path(given).absolute()
    cache = user_cache()
    return cache / "sanlab" / "builds" if writable(cache) else OUT / "builds"


def user_cache() -> Path:
    """Return the folder for caches of this user, whether it exists or not."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


def writable(folder: Path) -> bool:
    """Return True if a folder can be written, or made."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return folder.is_absolute() and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
