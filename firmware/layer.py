"""The descriptor of a message layer: all that the rest of sanlab knows of it.

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
from firmware.shown import NOTHING_SAID, Shown
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.hardware.kind import NicKind
from pymodels.waiting import Wait

NAMED_NODES = 128
"""Nodes that a message layer can name, unless its descriptor says otherwise."""
Options = Mapping[str, float | str]
"""Values of options by name, without the name of the layer."""


class LayerError(SanlabError):
    """A descriptor with a fault, or layers that cannot stand on each other or run together."""

    exit_code = EXIT_CONFIGURATION


class NodesError(SanlabError):
    """A cluster with more nodes than a message layer can name."""

    exit_code = EXIT_CONFIGURATION


def _no_waits(_nic: Nic, _view: ClusterView) -> Iterable[Wait]:
    return ()


def _any_need(_options: Options, _needs: Sequence[str]) -> None:
    """Accept all options."""


@dataclass(frozen=True, kw_only=True)
class Boot:
    """Functions for the firmware in C of a layer: words that the driver writes before the start, waits, limits."""

    words: Callable[[ClusterView, int], Iterable[tuple[int, Sequence[int]]]]
    """Words to write into SRAM, by address. Arguments: the view of the node, bytes of a word of the SRAM."""
    waits: Callable[[Nic, ClusterView], Iterable[Wait]] = _no_waits
    """Lists the resources that the firmware of a NIC waits for at the time of the call; hang reports show them."""
    check: Callable[[Options, Sequence[str]], None] = _any_need
    """Raises SanlabError for options, or needs of a study (`NEEDS`), that the firmware in C does not support."""


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A message layer. Raises LayerError for fields that contradict each other."""

    name: str
    """Name of the layer and of its folder."""
    library: Callable[..., Any]
    """Library of one host. Arguments: host, view, and the library below where the layer stands on another one."""
    firmware: Callable[[Nic, ClusterView], Coroutine[Any, Any, None]] | None = None
    """Program of the NIC; None: the layer has none, or it is written in C only."""
    options: type[LayerOptions] | None = None
    """Class of the run-time options; None: the layer has no options."""
    stands_on: tuple[str, ...] = ()
    """Layers on one of which the library can run, the usual one first; empty: it runs on the NIC."""
    drives: NicKind | None = None
    """Kind of NIC without a processor that the library drives."""
    most_nodes: int = NAMED_NODES
    """Number of nodes that the layer can name."""
    limits: Callable[[Options, int, int, CardMap], None] | None = None
    """Raises SanlabError (exit code 2) for options that are impossible on a cluster. Arguments: options, number of
    nodes, bytes of the NIC's SRAM, map of the card.
    """
    holds_link: Callable[[Options], str] | None = None
    """Returns the options with which a NIC takes no packet while it waits for its own link, separated by spaces; NICs
    can then wait for each other. None: there are none.
    """
    tolerates_loss: bool | Callable[[Options], bool] = False
    """True if the layer repairs what the network loses or damages. Otherwise a lost packet is a broken invariant."""
    composition: Callable[[Options], tuple[str, ...]] | None = None
    """Returns the parts of which the layer is composed; paths cost what they cost with these parts."""
    mail: Callable[[Any], Mail] | None = None
    """Mail over an opened library; None: the layer has no mail."""
    patient: Options = field(default_factory=lambda: MappingProxyType({}))
    """Options with which a host may do other work for long, and no timer counts its message as lost."""
    promises: Promises = field(default_factory=lambda: MappingProxyType({"": NOTHING}))
    """Properties of the mail by options (`firmware.promises`); each entry is a case of the conformance suite."""
    shown: Shown = NOTHING_SAID
    """Stages of a message, names and packet fields for reports, `make explain` and Wireshark."""
    boot: Boot | None = None
    """For firmware in C."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise LayerError(f"layer {self.name!r}", "the name is no identifier", "use letters, digits and _")
        for name in ("library", "firmware", "limits", "holds_link", "composition", "mail"):
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
            cause = f"has a NIC side, and stands on {self.stands_on[0]!r}"
            raise LayerError(f"layer {self.name!r}", cause, "leave out one of the two")

    def check(self, options: Options, nodes: int, sram_bytes: int, card: CardMap) -> None:
        """Raise SanlabError (exit code 2) for options that are impossible on a cluster, or for too many nodes."""
        if nodes > self.most_nodes:
            cause = f"layer {self.name!r} has names for {self.most_nodes}"
            raise NodesError(f"{nodes} hosts", cause, "take fewer with NUM_NODES")
        if self.limits is not None:
            self.limits(options, nodes, sram_bytes, card)

    def repairs(self, options: Options) -> bool:
        """Return True if the layer repairs what the network loses or damages with these options."""
        return self.tolerates_loss(options) if callable(self.tolerates_loss) else self.tolerates_loss
