"""Myrinet link agents: `Link`, `LinkSource`, `LinkSink`, `LinkMonitor`; see README.md in the folder above."""

from pymodels.link.characters import Symbol
from pymodels.link.crc8 import crc8
from pymodels.link.packet import Packet, Received, route_byte

from .errors import LinkError
from .link import Link
from .monitor import LinkMonitor, LinkPacket
from .sink import LinkSink
from .source import LinkSource

__all__ = [
    "Link",
    "LinkError",
    "LinkMonitor",
    "LinkPacket",
    "LinkSink",
    "LinkSource",
    "Packet",
    "Received",
    "Symbol",
    "crc8",
    "route_byte",
]
