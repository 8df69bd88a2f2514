"""Hardware interface of a LANai 4: one DMA transfer at a time, no doorbells."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic.lanai_packets import LanaiPackets
from firmware.common.nic.led_packets import LedPackets
from firmware.nics.lanai4.chains import SoftwareChains
from firmware.nics.lanai4.transfers import DirectTransfers
from firmware.verbs import Nic
from firmware.view import ClusterView


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> LanaiPackets:
    """Return a packet port that moves payload by the single engine."""
    return LanaiPackets(nic, view, base, most, DirectTransfers, exact)


def led_port(nic: Nic, view: ClusterView, base: int, most: int, lead: int) -> LedPackets:
    """Return a packet port whose payload begins with words of the firmware."""
    return LedPackets(nic, view, base, most, lead, DirectTransfers)


def host_dma(nic: Nic, lists: Mapping[int, int]) -> SoftwareChains:
    """Return chains whose blocks the firmware executes one after the other."""
    return SoftwareChains(nic, lists)
