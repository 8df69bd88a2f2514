"""Descriptor of a message layer: the only part of a layer that the rest of sanlab refers to.

`firmware/<layer>/layer.py` has `LAYER = Layer(name=..., library=..., ...)`; `firmware.layers.load` finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from firmware.mail import Mail
from firmware.options import LayerOptions
from firmware.promises import NOTHING, Promise, Promises
from firmware.shown import HARDWARE_SHOWN, Shown
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.hardware.kind import NicKind
from pymodels.waiting import Wait

NAMED_NODES = 128
"""Default of `Layer.most_nodes`: number of nodes that a message layer can address."""
Options = Mapping[str, float | str]
"""Values of options by name, without the name of the layer."""


class LayerError(SanlabError):
    """Invalid descriptor, or layers that cannot be stacked or run together."""

    exit_code = EXIT_CONFIGURATION


class NodesError(SanlabError):
    """Cluster with more nodes than a message layer can address."""

    exit_code = EXIT_CONFIGURATION


def _no_waits(_nic: Nic, _view: ClusterView) -> Iterable[Wait]:
    return ()


def _any_need(_options: Options, _needs: Sequence[str]) -> None:
    """Accept all options."""


@dataclass(frozen=True, kw_only=True)
class Boot:
    """Functions for a layer's C firmware: words that the driver writes before the start, waits, limits."""

    words: Callable[[ClusterView, int], Iterable[tuple[int, Sequence[int]]]]
    """Return the words to write into SRAM, by address. Arguments: view of the node, bytes of an SRAM word."""
    waits: Callable[[Nic, ClusterView], Iterable[Wait]] = _no_waits
    """Return the resources that the firmware of a NIC currently waits for, for hang reports."""
    check: Callable[[Options, Sequence[str]], None] = _any_need
    """Raise SanlabError for options, or needs of a study (`NEEDS`), that the C firmware does not support."""


@dataclass(frozen=True, kw_only=True)
class Layer:
    """Descriptor of one message layer. Raises LayerError for fields that contradict each other."""

    name: str
    """Name of the layer and of its folder."""
    library: Callable[..., Any]
    """Library of one host. Arguments: host, view, and for a stacked layer the library below."""
    firmware: Callable[[Nic, ClusterView], Coroutine[Any, Any, None]] | None = None
    """NIC program in Python, or None for a stacked layer and for one with C firmware only."""
    options: type[LayerOptions] | None = None
    """Class of the run-time options, or None for a layer without options."""
    stands_on: tuple[str, ...] = ()
    """Layers on one of which the library can run, the default first. Empty if the layer runs on the NIC itself."""
    drives: NicKind | None = None
    """Kind of NIC without a processor that the library drives."""
    most_nodes: int = NAMED_NODES
    """Number of nodes that the layer can address."""
    limits: Callable[[Options, int, int, CardMap], None] | None = None
    """Raise SanlabError (exit code 2) for options that are impossible on a cluster.

    Arguments: options, number of nodes, bytes of the NIC's SRAM, map of the card.
    """
    holds_link: Callable[[Options], str] | None = None
    """Return the options, separated by spaces, with which a NIC accepts no packet while it waits for its own link.

    With such options NICs can wait for each other. None if the layer has no such options.
    """
    tolerates_loss: bool | Callable[[Options], bool] = False
    """True if the layer recovers lost and damaged packets. Otherwise a lost packet is a broken invariant."""
    card_bytes: Callable[[Options], int] | None = None
    """Return the largest payload in bytes of a message from an FPGA card. None if the layer sets no limit."""
    composition: Callable[[Options], tuple[str, ...]] | None = None
    """Return the parts that the layer is composed of. Costs of paths are those of this composition."""
    mail: Callable[[Any], Mail] | None = None
    """Return mail over an opened library. None for a layer without mail."""
    patient: Options = field(default_factory=lambda: MappingProxyType({}))
    """Options that let a host do other work for long without a retransmission time-out."""
    promises: Promises = field(default_factory=lambda: MappingProxyType({"": NOTHING}))
    """Properties of the mail by options (`firmware.promises`). Each entry is a case of the conformance suite."""
    shown: Shown = HARDWARE_SHOWN
    """Stages of a message, names and packet fields for reports, `make explain` and Wireshark."""
    boot: Boot | None = None
    """Functions for C firmware, or None."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise LayerError(f"layer {self.name!r}", "the name is not an identifier", "use letters, digits and _")
        for name in ("library", "firmware", "limits", "holds_link", "card_bytes", "composition", "mail"):
            value = vars(self)[name]
            if not callable(value) and (value is not None or name == "library"):
                raise LayerError(f"layer {self.name!r}", f"{name} is {value!r}", "give a function")
        for text, promised in vars(self)["promises"].items():
            if not isinstance(promised, Promise):
                cause = f"promises[{text!r}] is {promised!r}"
                raise LayerError(f"layer {self.name!r}", cause, "give members of Promise, joined by |")
        options: object = vars(self)["options"]
        if options is not None and not (isinstance(options, type) and issubclass(options, LayerOptions)):
            raise LayerError(f"layer {self.name!r}", f"options is {options!r}", "give a subclass of LayerOptions")
        below: object = vars(self)["stands_on"]
        if not isinstance(below, tuple) or not all(isinstance(one, str) for one in below):
            cause, remedy = f"stands_on is {below!r}", "give a tuple of names of layers"
            raise LayerError(f"layer {self.name!r}", cause, remedy)
        if self.stands_on and self.firmware is not None:
            cause = f"has both firmware and stands_on={self.stands_on[0]!r}"
            raise LayerError(f"layer {self.name!r}", cause, "remove one of the two")

    def check(self, options: Options, nodes: int, sram_bytes: int, card: CardMap) -> None:
        """Raise SanlabError (exit code 2) for options that are impossible on a cluster, or for too many nodes.

        Args:
            options: Options of the layer by name.
            nodes: Number of nodes of the cluster.
            sram_bytes: Size of each NIC's SRAM.
            card: Map of the NIC's card.
        """
        if nodes > self.most_nodes:
            cause = f"layer {self.name!r} can address {self.most_nodes}"
            raise NodesError(f"{nodes} hosts", cause, "reduce NUM_NODES")
        if self.limits is not None:
            self.limits(options, nodes, sram_bytes, card)

    def repairs(self, options: Options) -> bool:
        """Return True if the layer recovers lost and damaged packets with these options."""
        return self.tolerates_loss(options) if callable(self.tolerates_loss) else self.tolerates_loss
