"""NIC firmware of HAL: moves packets between pinned host buffers and the network, unreliable and unordered."""

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
    """Run the firmware of one NIC."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.MEMORY, 0, "hal_look_memory")]).run()
    await Program(nic, view, port).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check options and number of nodes. Raises OptionError."""
    Options.from_values(options)
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"HAL addresses at most {NODES}", "use fewer nodes")
