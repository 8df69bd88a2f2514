"""Settings by name: those of a study, including the options of message layers."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.layers import check_options, exists, holds_link, load
from firmware.options import ON
from firmware.stack import layers_below
from pymodels.cards import CardMap
from pymodels.options import Option

__all__ = ["Option", "check_layers", "layer_options", "links_held", "options_by_layer", "stack_options"]


def layer_options(layer: str) -> dict[str, Option]:
    """Return the run-time options of a message layer as settings `<layer>.<option>`; empty without options."""
    known = layers_below(layer) if exists(layer) else ()
    chosen = {f"{layer}.{ON}": Option(known[0], f"what {layer} stands on", choices=known)} if len(known) > 1 else {}
    options = load(layer).options if exists(layer) else None
    declared = options.declared().items() if options is not None else ()
    return {**chosen, **{f"{layer}.{name}": one for name, one in declared}}


def stack_options(layer: str) -> dict[str, Option]:
    """Return the options of a message layer and of all layers on which it can run."""
    below = [stack_options(one) for one in layers_below(layer)]
    return {name: option for options in (*below, layer_options(layer)) for name, option in options.items()}


def check_layers(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check the options of message layers together, as the layers do.

    Args:
        options: Options of the run.
        nodes: Number of NICs.
        sram_bytes: SRAM size of a NIC.
        card: Address map of a NIC card.

    Raises:
        SanlabError: Invalid option (exit code 2).
    """
    for layer, values in options_by_layer(options).items():
        check_options(layer, values, nodes, sram_bytes, card)


def options_by_layer(options: Mapping[str, float | str]) -> dict[str, dict[str, float | str]]:
    """Return the options of message layers among those of a study, by layer."""
    given: dict[str, dict[str, float | str]] = {}
    for name, value in options.items():
        layer, dot, option = name.partition(".")
        if dot:
            given.setdefault(layer, {})[option] = value
    return {layer: values for layer, values in given.items() if layer_options(layer)}


def links_held(options: Mapping[str, float | str]) -> str:
    """Return the options with which NICs accept no packets while they wait for their own link, separated by spaces."""
    held = {layer: holds_link(layer, values) for layer, values in options_by_layer(options).items()}
    return " ".join(f"{layer}.{option}" for layer, told in held.items() for option in told.split())
