"""Folders of the checkout, and the names of the simulators."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "sim_build"
"""Where everything generated goes."""
SIMULATORS = ("verilator", "icarus")
