"""The packet port, doorbells and host DMA of a NIC of any kind, as `firmware/nics/<kind>` provides them."""

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
from pymodels.hardware.discover import of_nic
from pymodels.profiles import profiles_with_doorbells


class Hardware(Protocol):
    """The module `firmware.nics.<kind>`. What it does not have, firmware cannot use on this kind."""

    def packet_port(self, nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> PacketPort:
        """Its packets. `base`: from here on SRAM is the port's; `most`: bytes of payload a packet takes; `exact`: the
        length of each packet is looked at to the byte, where the card does not do that by itself.
        """

    def led_port(self, nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
        """The same, whose payload begins with up to `lead` bytes of the firmware's. Absent where it cannot."""

    def hardware_bells(self, nic: Nic, base: int) -> Bells:
        """Its doorbell FIFO, at an SRAM address. Absent where it has none."""

    def host_dma(self, nic: Nic, lists: Mapping[int, int]) -> HostDma:
        """Its host DMA. `lists`: the first block of each chain that is used, which the host loads into a card that has
        chains.
        """


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> PacketPort:
    """The packets of a NIC, see `Hardware`."""
    return _hardware(nic).packet_port(nic, view, base, most, exact)


def led_port(nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
    """The packets of a LANai whose payload begins with words of the firmware, see `Hardware`."""
    return _hardware(nic).led_port(nic, view, base, most, lead)


def host_dma(nic: Nic, lists: Mapping[int, int]) -> HostDma:
    """The host DMA of a NIC, see `Hardware`."""
    return _hardware(nic).host_dma(nic, lists)


def chain_heads(base: int, nodes: int) -> dict[int, int]:
    """The first block of each DMA chain of a port at `base`: what a driver loads into a card that has chains."""
    at = PortMap(base, 0, nodes)
    return {STORE_CHAIN: at.store_blocks, FETCH_CHAIN: at.fetch_blocks}


def has_bells(nic: Nic) -> bool:
    """Whether a NIC has a doorbell FIFO."""
    return hasattr(_hardware(nic), "hardware_bells")


def hardware_bells(nic: Nic, base: int) -> Bells:
    """The doorbell FIFO of a NIC that has one, at an SRAM address. Raises SanlabError for one that has none."""
    hardware = _hardware(nic)
    if not has_bells(nic):
        cause = f"a {nic.kind} has none"
        raise SanlabError(f"doorbells of NIC {nic.node}", cause, f"use {profiles_with_doorbells()}")
    return hardware.hardware_bells(nic, base)


def _hardware(nic: Nic) -> Hardware:
    return cast("Hardware", of_nic("firmware.nics.{}", nic.kind))
