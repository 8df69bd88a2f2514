"""GRIM's NI firmware: reliable in-order delivery between logical channels of network interfaces (paper 000)."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.grim.formats import MAX_SEND
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
    """Run the NI firmware. Raises OptionError for an invalid option or for queues that exceed the NIC's SRAM."""
    await Firmware(Ni(nic, view)).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check GRIM's options against the NICs of a cluster.

    Args:
        options: Options by name.
        nodes: Number of nodes in the cluster.
        sram_bytes: SRAM of each NIC in bytes.
        card: Address map of the NIC card.

    Raises:
        OptionError: An option is invalid, or needs hardware that the card does not have.
    """
    chosen = Options.from_values(options)
    if chosen.doorbell_notify and not card.has_doorbells:
        remedy = f"leave it 0, or use {profiles_with_doorbells()}"
        raise OptionError("option doorbell_notify", "the NIC has no doorbells", remedy)
    Layout(chosen, nodes, sram_bytes)


def holds_link(options: Mapping[str, float | str]) -> str:
    """Return the options that make the NI idle while it waits for the link (paper 000, 4.2.2 and 4.2.3)."""
    chosen = Options.from_values(options)
    waits = {
        "control_queue=0": not chosen.control_queue,
        "queue_style=hybrid hybrid_wait=1": chosen.queue_style == "hybrid" and bool(chosen.hybrid_wait),
    }
    return " ".join(option for option, holds in waits.items() if holds)


def card_bytes(options: Mapping[str, float | str]) -> int:
    """Return the largest payload in bytes of a message from an FPGA card."""
    return MAX_SEND


def tolerates_loss(options: Mapping[str, float | str]) -> bool:
    """Return True if the time-out extension is enabled."""
    return Options.from_values(options).timeout_us > 0
