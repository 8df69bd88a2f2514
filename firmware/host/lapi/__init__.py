"""LAPI: one-sided messages and active messages over HAL's packets (paper 001, 6.2)."""

from __future__ import annotations

from firmware.host.lapi.calls import Query, Rmw
from firmware.host.lapi.errors import LapiError
from firmware.host.lapi.handlers import Place, Set
from firmware.host.lapi.library import Lapi

__all__ = ["Lapi", "LapiError", "Place", "Query", "Rmw", "Set", "open_layer"]

STANDS_ON = ("hal",)

open_layer = Lapi
