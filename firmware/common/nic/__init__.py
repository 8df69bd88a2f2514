"""Parts of every firmware: the main loop, and NIC-independent interfaces to host DMA and packets."""

from firmware.common.nic.bells import Bells
from firmware.common.nic.block_ring import BlockRing
from firmware.common.nic.host_dma import HostDma
from firmware.common.nic.led_packets import LedEvents, LedPackets
from firmware.common.nic.packets import Arrived, PacketPort, PortEvents
from firmware.common.nic.ports import chain_heads, hardware_bells, has_bells, host_dma, led_port, packet_port
from firmware.common.nic.routes import route_row
from firmware.common.nic.services import Loop, Service, Step, Watched, WatchedService, serve

__all__ = [
    "Arrived",
    "Bells",
    "BlockRing",
    "HostDma",
    "LedEvents",
    "LedPackets",
    "Loop",
    "PacketPort",
    "PortEvents",
    "Service",
    "Step",
    "Watched",
    "WatchedService",
    "chain_heads",
    "hardware_bells",
    "has_bells",
    "host_dma",
    "led_port",
    "packet_port",
    "route_row",
    "serve",
]
