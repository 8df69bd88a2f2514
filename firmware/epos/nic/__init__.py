"""EPOS on the NIC: a baseline of six buffers, and the protocols composed into it (paper 004)."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic import has_bells
from firmware.epos.nic.layout import Place
from firmware.epos.nic.program import Program
from firmware.epos.nic.words import GROUP, NODES, Word
from firmware.epos.options import Options
from firmware.options import OptionError
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.cards import CardMap


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the NIC firmware once the driver is ready."""
    await nic.poll_loop([Watch(Word.STAGING, 0, "epos_look_ready")]).run()
    await Program(nic, view, Options.from_values(view.options).on(has_bells(nic))).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check the composition and its sizes against the NICs of a cluster.

    Args:
        options: Options by name.
        nodes: Number of nodes in the cluster.
        sram_bytes: SRAM of each NIC in bytes.
        card: Address map of the NIC card.

    Raises:
        OptionError: The cluster cannot have these options.
    """
    chosen = Options.from_values(options).on(card.has_doorbells)
    if (peers := nodes * chosen.sharers) > NODES:
        each = f", {peers} processes" if chosen.sharers > 1 else ""
        raise OptionError(f"{nodes} nodes{each}", f"headers have room for {NODES}", "use fewer")
    if "protection" in chosen.composition and chosen.notify != "doorbell":
        raise OptionError(
            "option notify", "protection needs doorbells, because a word does not identify its writer", "omit it"
        )
    if card.most_payload:
        raise OptionError("layer epos", "this NIC's memory does not hold payload", "use a profile with a LANai")
    if chosen.notify == "doorbell" and not card.has_doorbells:
        raise OptionError("option notify", "this NIC has no doorbells", "use word, or a profile with a LANai 9")
    if chosen.activate == "host" and not card.has_chains:
        raise OptionError("option activate", "this NIC has no chains", "use lanai, or a profile with a LANai 9")
    if "multicast" in chosen.composition and peers > GROUP:
        raise OptionError(
            f"{peers} receivers", f"a multicast can name {GROUP}", "use fewer, or compose without multicast"
        )
    place = Place(chosen, nodes)
    if place.end > sram_bytes:
        sizes = " + ".join(f"{size} ({name})" for name, (_, size) in place.parts.items())
        raise OptionError("the NIC's memory", f"{sizes} end at {place.end}, but it has {sram_bytes}", "reduce them")


def composition(options: Mapping[str, float | str]) -> tuple[str, ...]:
    """Return the protocols that are composed in."""
    chosen = Options.from_values(options)
    return ("dynamic",) if chosen.dynamic else chosen.composition


def tolerates_loss(options: Mapping[str, float | str]) -> bool:
    """Return True if reliability is composed in; the baseline assumes a reliable network."""
    return "reliability" in composition(options)
