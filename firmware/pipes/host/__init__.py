"""Pipes: reliable byte streams between nodes, over HAL (paper 001, 6.1)."""

from __future__ import annotations

from firmware.pipes.host.library import Pipes

__all__ = ["Pipes"]
