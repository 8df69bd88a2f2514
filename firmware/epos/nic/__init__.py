"""EPOS on the NIC: a baseline of six buffers, and the protocols that are composed into it (paper 004)."""

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
    """The NIC's program."""
    await nic.poll_loop([Watch(Word.STAGING, 0, "epos_look_ready")]).run()
    await Program(nic, view, Options.of(view.options).on(has_bells(nic))).run()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the composition and its sizes can be on such a cluster. Raises OptionError."""
    chosen = Options.of(options).on(card.has_doorbells)
    if (peers := nodes * chosen.sharers) > NODES:
        each = f", {peers} processes" if chosen.sharers > 1 else ""
        raise OptionError(f"{nodes} nodes{each}", f"headers have room for {NODES}", "take fewer")
    if "protection" in chosen.composition and chosen.notify != "doorbell":
        raise OptionError("option notify", "a word says not who wrote it: protection needs doorbells", "leave it open")
    if card.most_payload:
        raise OptionError("layer epos", "payload does not pass this NIC's memory", "use a profile with a LANai")
    if chosen.notify == "doorbell" and not card.has_doorbells:
        raise OptionError("option notify", "this NIC has no doorbells", "choose word, or a profile with a LANai 9")
    if chosen.activate == "host" and not card.has_chains:
        raise OptionError("option activate", "this NIC has no chains", "choose lanai, or a profile with a LANai 9")
    if "multicast" in chosen.composition and peers > GROUP:
        raise OptionError(f"{peers} receivers", f"a multicast names {GROUP}", "take fewer, or leave multicast out")
    place = Place(chosen, nodes)
    if place.end > sram_bytes:
        sizes = " + ".join(f"{size} ({name})" for name, (_, size) in place.parts.items())
        raise OptionError("the NIC's memory", f"{sizes} end at {place.end}, and it has {sram_bytes}", "take less")


def composition(options: Mapping[str, float | str]) -> tuple[str, ...]:
    """The protocols that are composed in."""
    chosen = Options.of(options)
    return ("dynamic",) if chosen.dynamic else chosen.composition


def tolerates_loss(options: Mapping[str, float | str]) -> bool:
    """The network is held reliable, unless reliability is composed in."""
    return "reliability" in composition(options)
