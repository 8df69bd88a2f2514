"""NIC program of VIA: physical descriptors, a central send queue, receive queue caches (paper 001, chapter 3)."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic import packet_port
from firmware.options import OptionError
from firmware.verbs import Nic, Watch
from firmware.via.nic.layout import Layout, Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.program import Program
from firmware.via.options import Options
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.profiles import profiles_with_doorbells


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the NIC's program. Raises OptionError for invalid options, or if the NIC's memory is too small."""
    options = Options.from_values(view.options)
    layout = Layout(options, nic.sram_bytes)
    port = packet_port(nic, view, layout.port, options.packet, bool(options.exact))
    await nic.poll_loop([Watch(Word.KERNEL, 0, "look_start")]).run()
    await Program(Ni(nic, view, port, layout)).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Raise OptionError for options that are impossible on the given cluster.

    Args:
        options: Options of the layer by name.
        nodes: Number of nodes (not limited here).
        sram_bytes: Size of each NIC's SRAM.
        card: Map of the NIC's card.
    """
    chosen = Options.from_values(options)
    if chosen.doorbell == "hw" and not card.has_doorbells:
        remedy = f"use {profiles_with_doorbells()}, or set via.doorbell=d1_ring"
        raise OptionError("option doorbell", "the NIC has no doorbells", remedy)
    if card.most_payload and chosen.packet > card.most_payload:
        cause = f"{chosen.packet} bytes, but a packet of this network carries {card.most_payload}"
        raise OptionError("option packet", cause, f"give {card.most_payload}")
    Layout(chosen, sram_bytes)
