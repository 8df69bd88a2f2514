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
    """Where builds are kept: as the environment says, in the checkout, else in the user's cache."""
    given = os.environ.get("SANLAB_BUILDS")
    if given:
        return Path(given).absolute()
    if CHECKOUT:
        return ROOT / "sim_build" / "builds"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sanlab" / "builds"
