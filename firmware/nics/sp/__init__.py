"""What firmware finds on an SP adapter: commands of the left engine, packets of a limited size, perhaps doorbells."""

from __future__ import annotations

from firmware.nics.sp.bells import SpBells
from firmware.nics.sp.packets import SpPackets
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.formats.sp import MAX_USER


def packet_port(nic: Nic, view: ClusterView, base: int, most: int, exact: bool = False) -> SpPackets:
    """No packet takes more than `MAX_USER` bytes."""
    return SpPackets(nic, view, min(most, MAX_USER))


def hardware_bells(nic: Nic, base: int) -> SpBells:
    """The doorbell FIFO."""
    return SpBells(nic, base)
