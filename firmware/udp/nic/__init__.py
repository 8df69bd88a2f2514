"""UDP on the NIC: frames of the driver go out, frames of the network go into the driver's buffers, and interrupt."""

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
    """The NIC's program."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.CAME, 0, "udp_look_driver")]).run()
    await Program(nic, view, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be, on so many nodes. Raises OptionError."""
    chosen = Options.of(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"an order names {NODES}", "take fewer")
    if 0 < card.most_payload < chosen.mtu:
        cause = f"a packet of this NIC takes {card.most_payload} bytes, a frame has up to {chosen.mtu}"
        raise OptionError("layer udp", cause, f"give udp.mtu={card.most_payload} at most, or a profile with a LANai")
