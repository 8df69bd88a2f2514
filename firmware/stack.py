"""Stacks of message layers, and the libraries of one host.

`stands_on` of a descriptor names the layers that its library can run on, the default first. The option `on` selects
another. A stacked layer has no firmware, and its library takes the library below as third argument. All layers of a run
have the same layer at the bottom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from firmware.layer import LayerError, Options
from firmware.layers import exists, host_library, load, names, shown
from firmware.options import ON
from firmware.shown import Shown
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.errors import nearest


def layers_below(layer: str) -> tuple[str, ...]:
    """Return the layers that a layer can run on; none if it runs on the NIC. Raises LayerError for an unknown layer."""
    named = load(layer).stands_on
    for one in named:
        if not exists(one):
            cause = f"stands_on names {one!r}, which does not exist"
            raise LayerError(f"layer {layer!r}", cause, nearest(one, [name for name in names() if name != layer]))
    return named


def layer_below(layer: str, options: Options) -> str:
    """Return the layer below a layer with the given options, or an empty text if it runs on the NIC."""
    known = layers_below(layer)
    chosen = str(options.get(ON, known[0])) if known else ""
    if known and chosen not in known:
        raise LayerError(f"layer {layer!r}", f"cannot run on {chosen!r}", nearest(chosen, known))
    return chosen


def stack(layers: Sequence[str], options: Mapping[str, Options]) -> tuple[str, ...]:
    """Return the given layers and all layers below them, each once, lower layers first.

    Args:
        layers: Names of layers.
        options: Options of each layer by its name.

    Raises:
        LayerError: A layer is below itself, or the layers need different NIC programs.
    """
    found: list[str] = []
    for layer in layers:
        for one in _downward(layer, options)[::-1]:
            if one not in found:
                found.append(one)
    first, *others = [one for one in found if not layer_below(one, options.get(one, {}))] or [""]
    if others:
        _reject_second_program(others[0], first)
    return tuple(found)


def _downward(layer: str, options: Mapping[str, Options]) -> list[str]:
    """Return a layer and all layers below it, from top to bottom."""
    below = [layer]
    while (next_one := layer_below(below[-1], options.get(below[-1], {}))) != "":
        if next_one in below:
            way = " on ".join([*below, next_one])
            raise LayerError(
                f"layer {layer!r}", f"is stacked on itself: {way}", "choose another layer below one of them"
            )
        below.append(next_one)
    return below


def _reject_second_program(layer: str, first: str) -> None:
    cause = f"the NICs already run {first!r}, and each runs one program"
    raise LayerError(f"layer {layer!r}", cause, "use layers with the same layer at the bottom")


def shown_together(layers: Sequence[str]) -> Shown:
    """Return the joint report data of the layers of one run, given lowest first.

    Packets are those of the lowest layer, stages and numbers those of all, and calls those of the highest layer that
    has any.
    """
    if not layers:
        return shown("")
    lowest, *others = [shown(layer) for layer in layers]
    stages, numbers, calls = list(lowest.stages), dict(lowest.numbers), lowest.calls
    for other in others:
        stages += [one for one in other.stages if one not in stages]
        numbers.update(other.numbers)
        calls = other.calls or calls
    return replace(lowest, stages=tuple(stages), numbers=numbers, calls=calls)


class Libraries:
    """Libraries of one host. Stacked layers share the library below and the NIC's program."""

    def __init__(
        self,
        host: Host,
        view: Callable[[str, Options], ClusterView],
        program: Callable[[str, ClusterView], ClusterView],
    ) -> None:
        """Create an empty set of libraries.

        Args:
            host: Host that runs the libraries.
            view: Returns the view of a layer, with further options.
            program: Starts a layer's program on the NIC, if it has one, and returns the view for its library.
        """
        self._host, self._view, self._program = host, view, program
        self._open: dict[str, Any] = {}
        self._below: dict[str, str] = {}
        """Layer below each open layer; empty for a layer that runs on the NIC."""

    def start(self, layer: str, options: Options | None = None) -> Any:
        """Open a layer's library, and those below that are not yet open.

        A library that is already open starts again, and the layers on it must be started again. Raises LayerError if
        the NIC runs the program of another layer.
        """
        view = self._view(layer, options or {})
        below = layer_below(layer, view.options)
        if below:
            under = self._open[below] if below in self._open else self.start(below)
            library = host_library(layer)(self._host, view, under)
        else:
            for other in (one for one, lower in self._below.items() if not lower and one != layer):
                _reject_second_program(layer, other)
            library = host_library(layer)(self._host, self._program(layer, view))
        self._forget(layer)
        self._open[layer], self._below[layer] = library, below
        return library

    def _forget(self, layer: str) -> None:
        """Remove a layer and all layers on it from the open libraries."""
        self._open.pop(layer, None)
        for above in [one for one, below in self._below.items() if below == layer and one in self._open]:
            self._forget(above)
