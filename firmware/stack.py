"""Layers that stand on layers: which is below which, and the libraries of one host.

`stands_on` of the descriptor names the layers on one of which the library runs, the usual one first; the option `on` of
the layer chooses another. Such a layer has no NIC side, and its library takes the library below as third argument. All
layers of a run stand on one that runs on the NIC.
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


def grounds(layer: str) -> tuple[str, ...]:
    """The layers on which a layer can stand; none: it stands on the NIC. Raises LayerError for what it may not name."""
    named = load(layer).stands_on
    for one in named:
        if not exists(one):
            cause = f"stands on {one!r}, which does not exist"
            raise LayerError(f"layer {layer!r}", cause, nearest(one, [name for name in names() if name != layer]))
    return named


def ground(layer: str, options: Options) -> str:
    """The layer on which a layer stands with these options of its own; empty: on the NIC."""
    known = grounds(layer)
    chosen = str(options.get(ON, known[0])) if known else ""
    if known and chosen not in known:
        raise LayerError(f"layer {layer!r}", f"does not stand on {chosen!r}", nearest(chosen, known))
    return chosen


def stack(layers: Sequence[str], options: Mapping[str, Options]) -> tuple[str, ...]:
    """Layers and all that they stand on, each once, before those above it. `options` of each layer by its name.

    Raises LayerError for layers that stand on themselves, or not all on one NIC program.
    """
    found: list[str] = []
    for layer in layers:
        for one in _downward(layer, options)[::-1]:
            if one not in found:
                found.append(one)
    first, *others = [one for one in found if not ground(one, options.get(one, {}))] or [""]
    if others:
        _refuse_second(others[0], first)
    return tuple(found)


def _downward(layer: str, options: Mapping[str, Options]) -> list[str]:
    """A layer, what it stands on, and so on."""
    below = [layer]
    while (next_one := ground(below[-1], options.get(below[-1], {}))) != "":
        if next_one in below:
            way = " on ".join([*below, next_one])
            raise LayerError(f"layer {layer!r}", f"stands on itself: {way}", "let one of them stand on another layer")
        below.append(next_one)
    return below


def _refuse_second(layer: str, first: str) -> None:
    cause = f"the NICs run {first!r} already, and have one program"
    raise LayerError(f"layer {layer!r}", cause, "let all layers of a run stand on the same one")


def shown_together(layers: Sequence[str]) -> Shown:
    """What tools show of layers of one run, the lowest first: its packets, the stages and numbers of all, and the calls
    of the highest that names its own.
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
    """The libraries of one host. Layers that stand on the same one share it, and the program of the NIC."""

    def __init__(
        self,
        host: Host,
        view: Callable[[str, Options], ClusterView],
        program: Callable[[str, ClusterView], ClusterView],
    ) -> None:
        """`view`: what a layer is told, with further options. `program`: start a layer's program on the NIC, where it
        has one; the view for its library.
        """
        self._host, self._view, self._program = host, view, program
        self._open: dict[str, Any] = {}
        self._below: dict[str, str] = {}
        """What each open layer stands on; empty: on the NIC."""

    def start(self, layer: str, options: Options | None = None) -> Any:
        """Open a layer's library, and those below that are not open yet. One that was open begins again, and whatever
        stands on it has to be started again. Raises LayerError when the NIC runs another layer's program.
        """
        view = self._view(layer, options or {})
        below = ground(layer, view.options)
        if below:
            under = self._open[below] if below in self._open else self.start(below)
            library = host_library(layer)(self._host, view, under)
        else:
            for other in (one for one, lower in self._below.items() if not lower and one != layer):
                _refuse_second(layer, other)
            library = host_library(layer)(self._host, self._program(layer, view))
        self._forget(layer)
        self._open[layer], self._below[layer] = library, below
        return library

    def _forget(self, layer: str) -> None:
        """What stood on a layer that begins again is open no more."""
        self._open.pop(layer, None)
        for above in [one for one, below in self._below.items() if below == layer and one in self._open]:
            self._forget(above)
