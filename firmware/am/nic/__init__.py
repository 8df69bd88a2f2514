"""NIC firmware of AM: sends the host's descriptors as messages and stores received messages in its receive queue."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.am.nic.layout import MOST, NODES, PORT, Word
from firmware.am.nic.program import Program
from firmware.am.options import Options
from firmware.common.nic import packet_port
from firmware.options import OptionError
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.cards import CardMap


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the firmware of one NIC."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.MEMORY, 0, "am_look_memory")]).run()
    await Program(nic, view, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check options, number of nodes and NIC kind. Raises OptionError."""
    Options.from_values(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"the NIC has descriptors for {NODES}", "use fewer nodes")
    if 0 < card.most_payload < MOST:
        cause = f"a packet of this NIC holds {card.most_payload} bytes, but a payload has up to {MOST}"
        raise OptionError("layer am", cause, "use a profile with a LANai")
