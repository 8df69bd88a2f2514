"""GRIM on the host: the library that applications use (paper 003, appendix C)."""

from __future__ import annotations

from firmware.grim.host.errors import GrimError, UndeliveredError
from firmware.grim.host.library import Grim
from firmware.grim.host.nodes import ANY_VNN

__all__ = ["ANY_VNN", "Grim", "GrimError", "UndeliveredError"]
