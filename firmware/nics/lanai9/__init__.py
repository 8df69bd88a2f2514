"""Hardware interface of a LANai 9: chains and doorbells in hardware."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic.lanai_packets import LanaiPackets
from firmware.common.nic.led_packets import LedPackets
from firmware.nics.lanai9.bells import LanaiBells
from firmware.nics.lanai9.chains import HardwareChains
from firmware.nics.lanai9.transfers import ChainTransfers
from firmware.verbs import Nic
from firmware.view import ClusterView


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> LanaiPackets:
    """Return a packet port that moves payload by two chains."""
    return LanaiPackets(nic, view, base, most, ChainTransfers, exact)


def led_port(nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
    """Return a packet port whose payload begins with words of the firmware."""
    return LedPackets(nic, view, base, most, lead, ChainTransfers)


def hardware_bells(nic: Nic, base: int) -> LanaiBells:
    """Return the first doorbell FIFO."""
    return LanaiBells(nic, base)


def host_dma(nic: Nic, lists: Mapping[int, int]) -> HardwareChains:
    """Return the engine's own chains."""
    return HardwareChains(nic)
