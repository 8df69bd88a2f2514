"""Hardware interface of an SP adapter: commands of the left engine, packets of limited size, optional doorbells."""

from __future__ import annotations

from firmware.nics.sp.bells import SpBells
from firmware.nics.sp.packets import SpPackets
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.formats.sp import MAX_USER


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> SpPackets:
    """Return a packet port; a packet has at most `MAX_USER` bytes."""
    return SpPackets(nic, view, min(most, MAX_USER))


def hardware_bells(nic: Nic, base: int) -> SpBells:
    """Return the doorbell FIFO."""
    return SpBells(nic, base)
