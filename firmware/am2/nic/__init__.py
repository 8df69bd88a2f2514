"""AM-II on the NIC: endpoints in its memory, whose messages it carries reliably (paper 002)."""

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
    """The NIC's program."""
    options = Options.of(view.options)
    place = Place(options.frames, options.channels, len(view.names), options.medium)
    port = led_port(nic, view, place.port, options.medium, LEAD)
    await nic.poll_loop([Watch(Word.READY, 0, "am2_look_ready")]).run()
    await Program(nic, view, options, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be, on so many nodes. Raises OptionError."""
    chosen = Options.of(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"names of endpoints have room for {NODES}", "take fewer")
    if card.most_payload:
        raise OptionError("layer am2", "payload does not pass this NIC's memory", "use a profile with a LANai")
    end = Place(chosen.frames, chosen.channels, nodes, chosen.medium).end(LEAD)
    if end > sram_bytes:
        cause = (
            f"{chosen.frames} frames, {chosen.channels} channels to {nodes} nodes and packets of {chosen.medium} "
            f"bytes take {end} bytes, and the NIC has {sram_bytes}"
        )
        raise OptionError("the NIC's memory", cause, "take fewer frames or channels, or a shorter medium")
