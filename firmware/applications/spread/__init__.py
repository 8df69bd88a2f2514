"""Programs over Split-C with checked results: a histogram, a matrix product, a sort."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware.applications.spread.histogram import HISTOGRAM
from firmware.applications.spread.matrix import MATRIX
from firmware.applications.spread.node import Node, Program
from firmware.applications.spread.sample_sort import SAMPLE_SORT

__all__ = ["PROGRAMS", "Node", "Program"]

STANDS_ON = ("split_c",)

PROGRAMS: Mapping[str, Program] = MappingProxyType({"histogram": HISTOGRAM, "matrix": MATRIX, "sort": SAMPLE_SORT})
"""Programs by name."""
