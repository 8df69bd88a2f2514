"""What every firmware uses: its main loop, and one interface to what differs between NICs: the host DMA, and packets
between host memory and the network.
"""

from firmware.nic.hardware.bells import Bells
from firmware.nic.hardware.block_ring import BlockRing
from firmware.nic.hardware.host_dma import HostDma
from firmware.nic.hardware.led_packets import LedEvents, LedPackets
from firmware.nic.hardware.packets import Arrived, PacketPort, PortEvents
from firmware.nic.hardware.ports import chain_heads, hardware_bells, has_bells, host_dma, led_port, packet_port
from firmware.nic.hardware.routes import route_row
from firmware.nic.hardware.services import Looked, Loop, Service, Step, Watched, serve

__all__ = [
    "Arrived",
    "Bells",
    "BlockRing",
    "HostDma",
    "LedEvents",
    "LedPackets",
    "Looked",
    "Loop",
    "PacketPort",
    "PortEvents",
    "Service",
    "Step",
    "Watched",
    "chain_heads",
    "hardware_bells",
    "has_bells",
    "host_dma",
    "led_port",
    "packet_port",
    "route_row",
    "serve",
]
