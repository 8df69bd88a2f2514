"""LAPI: one-sided operations and active messages over HAL's packets (paper 001, 6.2)."""

from __future__ import annotations

from firmware.lapi.host.calls import Query, Rmw
from firmware.lapi.host.errors import LapiError
from firmware.lapi.host.handlers import Place, Set
from firmware.lapi.host.library import Lapi

__all__ = ["Lapi", "LapiError", "Place", "Query", "Rmw", "Set"]
