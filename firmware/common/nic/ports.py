"""Packet port, doorbells and host DMA of any NIC, from the module `firmware.nics.<kind>`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from firmware.common.nic.bells import Bells
from firmware.common.nic.host_dma import HostDma
from firmware.common.nic.led_packets import LedPackets
from firmware.common.nic.packets import PacketPort
from firmware.common.nic.transfers import FETCH_CHAIN, STORE_CHAIN, PortMap
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.errors import SanlabError
from pymodels.hardware.discover import module_of_nic
from pymodels.profiles import profiles_with_doorbells


class Hardware(Protocol):
    """Interface of the module `firmware.nics.<kind>`. A missing function is a feature that the kind lacks."""

    def packet_port(self, nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> PacketPort:
        """Return the packet port.

        Args:
            nic: NIC that runs the firmware.
            view: View of the node.
            base: First SRAM address of the port's memory.
            most: Maximum payload in bytes.
            exact: True if the length of each packet is checked to the byte on cards that do not do so in hardware.
        """

    def led_port(self, nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
        """Return a packet port whose payload begins with up to `lead` bytes from the firmware. Optional."""

    def hardware_bells(self, nic: Nic, base: int) -> Bells:
        """Return the doorbell FIFO at an SRAM address. Optional."""

    def host_dma(self, nic: Nic, lists: Mapping[int, int]) -> HostDma:
        """Return the host DMA.

        Args:
            nic: NIC that runs the firmware.
            lists: First block of each chain in use. The host loads it into a card that has chains.
        """


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> PacketPort:
    """Return the packet port of a NIC, see `Hardware.packet_port`."""
    return _hardware(nic).packet_port(nic, view, base, most, exact)


def led_port(nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
    """Return the packet port of a LANai whose payload begins with words from the firmware, see `Hardware.led_port`."""
    return _hardware(nic).led_port(nic, view, base, most, lead)


def host_dma(nic: Nic, lists: Mapping[int, int]) -> HostDma:
    """Return the host DMA of a NIC, see `Hardware.host_dma`."""
    return _hardware(nic).host_dma(nic, lists)


def chain_heads(base: int, nodes: int) -> dict[int, int]:
    """Return the first block of each DMA chain of a port, which the driver loads into a card that has chains."""
    at = PortMap(base, 0, nodes)
    return {STORE_CHAIN: at.store_blocks, FETCH_CHAIN: at.fetch_blocks}


def has_bells(nic: Nic) -> bool:
    """Return True if a NIC has a doorbell FIFO."""
    return hasattr(_hardware(nic), "hardware_bells")


def hardware_bells(nic: Nic, base: int) -> Bells:
    """Return the doorbell FIFO of a NIC at an SRAM address. Raises SanlabError if the NIC has none."""
    hardware = _hardware(nic)
    if not has_bells(nic):
        cause = f"a {nic.kind} has no doorbells"
        raise SanlabError(f"doorbells of NIC {nic.node}", cause, f"use {profiles_with_doorbells()}")
    return hardware.hardware_bells(nic, base)


def _hardware(nic: Nic) -> Hardware:
    return cast("Hardware", module_of_nic("firmware.nics.{}", nic.kind))
