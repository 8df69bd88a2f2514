"""VIA on the NIC: physical descriptors, a central send queue, receive queue caches (paper 001, chapter 3)."""

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
    """The NIC's program. Raises OptionError when an option cannot be, or the NIC's memory cannot hold what is asked."""
    options = Options.of(view.options)
    layout = Layout(options, nic.sram_bytes)
    port = packet_port(nic, view, layout.port, options.packet, bool(options.exact))
    await nic.poll_loop([Watch(Word.KERNEL, 0, "look_start")]).run()
    await Program(Ni(nic, view, port, layout)).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be on `nodes` NICs of `sram_bytes` on such cards. Raises OptionError naming the one that
    cannot.
    """
    chosen = Options.of(options)
    if chosen.doorbell == "hw" and not card.has_doorbells:
        remedy = f"use {profiles_with_doorbells()}, or d1_ring"
        raise OptionError("option doorbell", "the NIC has no doorbells", remedy)
    if card.most_payload and chosen.packet > card.most_payload:
        cause = f"a packet of this network takes {card.most_payload} bytes"
        raise OptionError("option packet", cause, f"give {card.most_payload}")
    Layout(chosen, sram_bytes)
