"""Programs of paper 001, 5.5: SOR, Jacobi, 3D FFT and TSP on TreadMarks, with their data in shared pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware.applications.shared_memory.fft import FFT
from firmware.applications.shared_memory.jacobi import JACOBI
from firmware.applications.shared_memory.program import Program, Size
from firmware.applications.shared_memory.sor import SOR
from firmware.applications.shared_memory.tsp import TSP

__all__ = ["PROGRAMS", "Program", "Size"]

STANDS_ON = ("tmk",)

PROGRAMS: Mapping[str, Program] = MappingProxyType({"sor": SOR, "tsp": TSP, "jacobi": JACOBI, "fft": FFT})
"""Programs by name."""
