"""Pipes: reliable streams of bytes between the nodes, over HAL (paper 001, 6.1). It has no NIC side."""

from __future__ import annotations

from firmware.pipes.host.library import Pipes

__all__ = ["Pipes"]
