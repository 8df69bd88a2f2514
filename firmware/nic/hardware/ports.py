"""The packet port of each kind of NIC."""

from __future__ import annotations

from firmware.layers import ClusterView
from firmware.nic.hardware.bells import Bells, LanaiBells, SpBells
from firmware.nic.hardware.chain_transfers import FETCH_CHAIN, STORE_CHAIN
from firmware.nic.hardware.lanai_packets import LanaiPackets
from firmware.nic.hardware.packets import PacketPort
from firmware.nic.hardware.sp_packets import SpPackets
from firmware.nic.hardware.transfers import PortMap
from firmware.verbs import Nic
from pymodels.errors import SanlabError


def packet_port(nic: Nic, view: ClusterView, base: int, most: int) -> PacketPort:
    """The packets of a NIC. `base`: from here on SRAM is the port's; `most`: bytes of payload a packet takes."""
    if nic.kind == "sp":
        return SpPackets(nic, view, most)
    return LanaiPackets(nic, view, base, most)


def chain_heads(base: int, nodes: int) -> dict[int, int]:
    """The first block of each DMA chain of a port at `base`: what a driver loads into a card that has chains."""
    at = PortMap(base, 0, nodes)
    return {STORE_CHAIN: at.store_blocks, FETCH_CHAIN: at.fetch_blocks}


def hardware_bells(nic: Nic, base: int) -> Bells:
    """The doorbell FIFO of a NIC that has one, at an SRAM address. Raises SanlabError for one that has none."""
    if nic.kind == "lanai4":
        raise SanlabError(f"doorbells of NIC {nic.node}", f"a {nic.kind} has none", "use PROFILE=lanai9 or sp-future")
    return SpBells(nic, base) if nic.kind == "sp" else LanaiBells(nic, base)
