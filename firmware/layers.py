"""Message layers are found by name: one folder each in `firmware`. Nothing else names them.

`firmware/<layer>/nic/__init__.py` has `async def main(nic: Nic, view: ClusterView) -> None`, the NIC's program.
`firmware/<layer>/host/__init__.py` has `def open_layer(host: Host, view: ClusterView) -> Any`, the library of one host.
A layer without a NIC side may stand on another: see `stack.py`.
`shown.py` of the NIC side (of the host side, where that is all) has `SHOWN`, what tools show of the layer.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from firmware.shown import NOTHING_SAID, Shown
from firmware.verbs import Nic
from pymodels.card.fabric import Circuit
from pymodels.cards import CardMap
from pymodels.config.model import QueueRequest
from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.lanai.program import Program
from pymodels.roots import listing, place, things
from pymodels.waiting import Wait


@dataclass(frozen=True)
class MachineCode:
    """Firmware that the host's driver loads into its NIC, which executes it."""

    program: Program
    words: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """What the driver tells the program beside it, by SRAM address: routes and the like (`boot.py` of the layer)."""
    waits: Callable[[], Iterable[Wait]] = tuple
    """For hang reports: what the program waits for."""


@dataclass(frozen=True)
class ClusterView:
    """What software on one node knows of the cluster (from the configuration files)."""

    me: int
    """Own virtual node number (VNN)."""
    names: tuple[str, ...]
    """Host names by VNN."""
    routes: Mapping[int, bytes]
    """Myrinet route bytes by destination VNN; a node's route to itself is there only when it has a card that takes
    messages.
    """
    options: Mapping[str, float | str] = field(default_factory=dict)
    """Run-time options of the message layer by name."""
    sram_bytes: int = 1 << 21
    """Size of each NIC's SRAM."""
    cards: tuple[frozenset[str], ...] = ()
    """What each host uses (`pymodels.config.model.CARDS`) by VNN; empty: nobody has more than its NIC."""
    circuits: tuple[Circuit, ...] = ()
    """Circuits of the FPGA cards, in the order of the circuit file."""
    config: str = ""
    """The configuration file; empty: there is none, and what stands here is all there is."""
    queues: tuple[QueueRequest, ...] = ()
    """Sizes of message queues that the configuration asks for on this node."""
    pnns: tuple[int, ...] = ()
    """Physical node numbers by VNN: the ports of the switches."""
    fpga: Mapping[str, int] = field(default_factory=dict)
    """Settings of the FPGA cards that the driver writes: `clock_divisor`, `config_clocks`."""
    machine_code: MachineCode | None = None
    """What the NIC of this node executes; None: its firmware is a program in Python."""
    other_routes: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    """The further routes to destinations that have several."""

    def ways(self, vnn: int) -> tuple[bytes, ...]:
        """All routes to a destination, for a layer that takes them in turn, packet by packet."""
        return (self.routes[vnn], *self.other_routes.get(vnn, ()))

    def has(self, vnn: int, card: str) -> bool:
        """Whether a host has a card."""
        return bool(self.cards) and card in self.cards[vnn]


BESIDE = ("applications", "common", "nics", "runtime")
"""Folders of firmware that are no layers."""
NAMED_NODES = 128
"""Nodes that a message layer names, unless it says `MOST_NODES`."""


class NodesError(SanlabError):
    """A message layer has no names for so many nodes."""

    exit_code = EXIT_CONFIGURATION


def names() -> list[str]:
    """The message layers that exist, sorted: folders of the host side whose `__init__.py` has `open_layer`.

    They are read when a folder of the host side has come or gone; `__init__.py` itself once in a process, as it is
    imported once.
    """
    folders = listing("firmware")
    if folders not in _known:
        found = things("firmware", "*/host/__init__.py")
        named = [name for name, path in found.items() if _says(path, "open_layer")]
        if any(_may_become_one(name) for _, entries in folders for name in entries - found.keys()):
            return named
        _known.clear()
        _known[folders] = named
    return list(_known[folders])


_known: dict[tuple[tuple[Path, frozenset[str]], ...], list[str]] = {}
"""The layers, by what stood in the folders when they were read: of the last time."""


def _may_become_one(name: str) -> bool:
    """Whether an entry without `__init__.py` may be a layer that is being written."""
    return name.isidentifier() and not name.startswith("_") and name not in BESIDE


@cache
def _says(module: Path, name: str) -> bool:
    """Whether a module names something."""
    return re.search(rf"\b{name}\b", module.read_text(encoding="utf-8")) is not None


def has_program(layer: str) -> bool:
    """Whether the NIC side of a message layer has a program in Python. A layer for a NIC without a processor has no NIC
    side; that of another may be in C alone.
    """
    module = place(f"firmware/{layer}/nic/__init__.py")
    return module.exists() and _says(module, "main")


def _module(side: str, layer: str) -> Any:
    if layer not in names():
        near = difflib.get_close_matches(layer, names(), 1)
        raise LookupError(
            f"message layer {layer!r} does not exist; "
            + (f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names())}")
        )
    return importlib.import_module(f"firmware.{layer}.{side}")


def folder_of(layer: str) -> Path:
    """The folder of a layer."""
    return place(f"firmware/{layer}")


def _rules(layer: str) -> Any:
    return _module("nic" if has_program(layer) else "host", layer)


def nic_program(layer: str) -> Callable[[Nic, ClusterView], Coroutine[Any, Any, None]]:
    """The NIC program of a message layer. Raises LookupError naming the nearest layer."""
    return _module("nic", layer).main  # type: ignore[no-any-return]


def check_options(layer: str, options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Let a message layer refuse options that cannot be on such a cluster: its NIC side's `check_options`, if it has
    one. Raises SanlabError (exit code 2) naming the option, or the layer when it names fewer nodes (`MOST_NODES`).
    """
    most = getattr(_rules(layer), "MOST_NODES", NAMED_NODES)
    if nodes > most:
        raise NodesError(f"{nodes} hosts", f"layer {layer!r} has names for {most}", "take fewer with NUM_NODES")
    check = getattr(_rules(layer), "check_options", None)
    if check is not None:
        check(options, nodes, sram_bytes, card)


def holds_link(layer: str, options: Mapping[str, float | str]) -> str:
    """The options of a message layer with which a NIC takes no packet while it waits for its own link: its NIC side's
    `holds_link`, if it has one. Empty: it always takes them. Where it does not, NICs can wait for each other.
    """
    holds = getattr(_rules(layer), "holds_link", None)
    return str(holds(options)) if holds else ""


def tolerates_loss(layer: str, options: Mapping[str, float | str]) -> bool:
    """Whether a message layer repairs what the network loses or damages: its NIC side's `tolerates_loss`, if it has
    one. Otherwise a lost packet is a broken invariant.
    """
    tolerates = getattr(_rules(layer), "tolerates_loss", None)
    return bool(tolerates and tolerates(options))


def composition(layer: str, options: Mapping[str, float | str]) -> tuple[str, ...]:
    """The parts of which a message layer is composed with these options: `composition` of its NIC side, or of its host
    side where it has no other. Its paths cost what `paths.c` costs with these parts (`pymodels.costs.compositions`).
    """
    composed = getattr(_rules(layer), "composition", None)
    return tuple(composed(options)) if composed else ()


def shown(layer: str) -> Shown:
    """What tools show of a message layer: `SHOWN` of its `shown.py`, if it has one; of no layer what hardware does."""
    folder = folder_of(layer)
    if not layer or not (folder / "shown.py").exists():
        return NOTHING_SAID
    return importlib.import_module(f"firmware.{layer}.shown").SHOWN  # type: ignore[no-any-return]


def boot_words(layer: str, view: ClusterView, word_bytes: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """What the driver tells a layer's firmware in C, by SRAM address: `words` of its NIC side's `boot.py`.
    `word_bytes`: of the SRAM.
    """
    words = importlib.import_module(f"firmware.{layer}.nic.boot").words(view, word_bytes)
    return tuple((address, tuple(row)) for address, row in words)


def boot_waits(layer: str, nic: Nic, view: ClusterView) -> Callable[[], Iterable[Wait]]:
    """What a layer's firmware in C waits for on a NIC, when it is asked: `waits` of its NIC side's `boot.py`, if it has
    one.
    """
    waits = getattr(importlib.import_module(f"firmware.{layer}.nic.boot"), "waits", None)
    return tuple if waits is None else lambda: waits(nic, view)


def check_boot(layer: str, options: Mapping[str, float | str], needs: Sequence[str]) -> None:
    """Let a layer's firmware in C refuse options, or what a study needs of the layer: `check` of its NIC side's
    `boot.py`, if it has one. Raises SanlabError naming it.
    """
    check = getattr(importlib.import_module(f"firmware.{layer}.nic.boot"), "check", None)
    if check is not None:
        check(options, needs)


def host_module(layer: str) -> Any:
    """The package of a layer's host side. Raises LookupError naming the nearest layer."""
    return _module("host", layer)


def host_library(layer: str) -> Callable[..., Any]:
    """The host library of a message layer: of host, view, and the library on which it stands, if it stands on one
    (`firmware.stack`). Raises LookupError naming the nearest layer.
    """
    return host_module(layer).open_layer  # type: ignore[no-any-return]
