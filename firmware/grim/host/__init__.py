"""GRIM on the host: the library that applications use (paper 003, appendix C)."""

from __future__ import annotations

from firmware.grim.host.errors import GrimError, UndeliveredError
from firmware.grim.host.library import Grim
from firmware.grim.host.nodes import ANY_VNN
from firmware.layers import ClusterView
from firmware.verbs import Host

__all__ = ["ANY_VNN", "Grim", "GrimError", "UndeliveredError", "open_layer"]


def open_layer(host: Host, view: ClusterView) -> Grim:
    """The library object of one host. Raises OptionError for options that cannot be."""
    return Grim(host, view)
