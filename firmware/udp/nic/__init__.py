"""NIC firmware of UDP: sends the driver's frames, stores received frames in its buffers, and interrupts."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic import packet_port
from firmware.options import OptionError
from firmware.udp.nic.layout import MOST, NODES, PORT, Word
from firmware.udp.nic.program import Program
from firmware.udp.options import Options
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.cards import CardMap


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the firmware of one NIC."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.CAME, 0, "udp_look_driver")]).run()
    await Program(nic, view, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check options, number of nodes and NIC kind. Raises OptionError."""
    chosen = Options.from_values(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"UDP addresses at most {NODES}", "use fewer nodes")
    if 0 < card.most_payload < chosen.mtu:
        cause = f"a packet of this NIC holds {card.most_payload} bytes, but a frame has up to {chosen.mtu}"
        raise OptionError(
            "layer udp", cause, f"set udp.mtu to at most {card.most_payload}, or use a profile with a LANai"
        )
