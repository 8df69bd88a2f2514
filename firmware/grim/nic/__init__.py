"""GRIM's NI firmware: reliable in-order delivery between logical channels of network interfaces (paper 000)."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.grim.nic.layout import Layout
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.scan import Firmware
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.profiles import profiles_with_doorbells


async def main(nic: Nic, view: ClusterView) -> None:
    """The NIC's program. Raises OptionError when an option cannot be, or the NIC's memory cannot hold what is asked."""
    await Firmware(Ni(nic, view)).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be on `nodes` NICs of `sram_bytes` on such cards. Raises OptionError naming the one that
    cannot.
    """
    chosen = Options.of(options)
    if chosen.doorbell_notify and not card.has_doorbells:
        remedy = f"leave it 0, or use {profiles_with_doorbells()}"
        raise OptionError("option doorbell_notify", "the NIC has no doorbells", remedy)
    Layout(chosen, nodes, sram_bytes)


def holds_link(options: Mapping[str, float | str]) -> str:
    """The options with which the NI does nothing while it waits for the link (paper 000, 4.2.2 and 4.2.3)."""
    chosen = Options.of(options)
    waits = {
        "control_queue=0": not chosen.control_queue,
        "queue_style=hybrid hybrid_wait=1": chosen.queue_style == "hybrid" and bool(chosen.hybrid_wait),
    }
    return " ".join(option for option, holds in waits.items() if holds)


def tolerates_loss(options: Mapping[str, float | str]) -> bool:
    """Whether the time-out extension is on."""
    return Options.of(options).timeout_us > 0
