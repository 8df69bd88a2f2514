"""Host library of HAL: packets to other nodes through buffers in pinned memory (paper 001, 6.1)."""

from __future__ import annotations

from firmware.hal.host.library import HostHal

__all__ = ["HostHal"]
