"""NIC program of AM-II: endpoints in NIC memory, and reliable transport of their messages (paper 002)."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.am2.nic.layout import NODES, Place, Word
from firmware.am2.nic.program import Program
from firmware.am2.nic.words import LEAD
from firmware.am2.options import Options
from firmware.common.nic import led_port
from firmware.options import OptionError
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.cards import CardMap


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the NIC's program."""
    options = Options.from_values(view.options)
    place = Place(options.frames, options.channels, len(view.names), options.medium)
    port = led_port(nic, view, place.port, options.medium, LEAD)
    await nic.poll_loop([Watch(Word.READY, 0, "am2_look_ready")]).run()
    await Program(nic, view, options, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Raise OptionError for options that are impossible on a cluster.

    Args:
        options: Options of the layer by name.
        nodes: Number of nodes.
        sram_bytes: Size of each NIC's SRAM.
        card: Map of the NIC's card.
    """
    chosen = Options.from_values(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"names of endpoints can address {NODES}", "reduce NUM_NODES")
    if card.most_payload:
        raise OptionError(
            "layer am2",
            "not supported on a NIC whose memory payload does not pass through",
            "use a profile with a LANai",
        )
    end = Place(chosen.frames, chosen.channels, nodes, chosen.medium).end(LEAD)
    if end > sram_bytes:
        cause = (
            f"{chosen.frames} frames, {chosen.channels} channels to {nodes} nodes and packets of {chosen.medium} "
            f"bytes need {end} bytes, but the NIC has {sram_bytes}"
        )
        raise OptionError("the NIC's memory", cause, "reduce am2.frames, am2.channels or am2.medium")
