"""EPOS on the host: a network component whose protocols are composed by configuration (paper 004)."""

from __future__ import annotations

from firmware.epos.host.errors import EposError
from firmware.epos.host.library import Epos, MemoryRange, Message

__all__ = ["Epos", "EposError", "MemoryRange", "Message"]
