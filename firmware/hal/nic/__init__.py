"""HAL on the NIC: packets between pinned buffers of the host and the network. Nothing is repeated or put in order."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic import packet_port
from firmware.hal.nic.layout import MOST, NODES, PORT, Word
from firmware.hal.nic.program import Program
from firmware.hal.options import Options
from firmware.options import OptionError
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.cards import CardMap


async def main(nic: Nic, view: ClusterView) -> None:
    """The NIC's program."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.MEMORY, 0, "hal_look_memory")]).run()
    await Program(nic, view, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be, on so many nodes. Raises OptionError."""
    Options.of(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"an order names {NODES}", "take fewer")
