"""Registry of message layers: each is a folder of `firmware` with a descriptor in `layer.py`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from firmware.layer import Layer, LayerError, Options
from firmware.mail import Mail
from firmware.shown import HARDWARE_SHOWN, Shown
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.errors import nearest
from pymodels.roots import files_by_name, place
from pymodels.waiting import Wait

DESCRIPTOR = "layer.py"


def names() -> list[str]:
    """Return the message layers that exist, sorted."""
    return list(files_by_name("firmware", f"*/{DESCRIPTOR}"))


def exists(layer: str) -> bool:
    """Return True if a message layer of this name exists."""
    return layer.isidentifier() and (folder_of(layer) / DESCRIPTOR).is_file()


def load(layer: str) -> Layer:
    """Return the descriptor of a message layer.

    Raises:
        LookupError: The layer does not exist; the message has the nearest name.
        LayerError: The descriptor is invalid.
    """
    name = f"firmware.{layer}.layer"
    if not exists(layer):
        raise LookupError(f"message layer {layer!r} does not exist; {nearest(layer, names())}")
    file = folder_of(layer) / DESCRIPTOR
    try:
        found: object = vars(_module(name)).get("LAYER")
    except TypeError as error:
        raise LayerError(str(file), *_fault(error)) from error
    if not isinstance(found, Layer):
        raise LayerError(str(file), "has no descriptor", "write LAYER = Layer(name=..., library=...)")
    if found.name != layer:
        raise LayerError(str(file), f"its descriptor is named {found.name!r}", f"name it {layer!r}, as its folder")
    return found


def _module(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        importlib.invalidate_caches()  # the folder may be newer than Python's directory cache
        return importlib.import_module(name)


def _fault(error: TypeError) -> tuple[str, str]:
    """Return cause and remedy for invalid fields of a descriptor. Re-raises a TypeError of other origin."""
    text = str(error)
    if not text.startswith("Layer.__init__() "):
        raise error
    if unexpected := re.search(r"unexpected keyword argument '(\w+)'", text):
        field = unexpected[1]
        return f"Layer has no field {field!r}", nearest(field, list(Layer.__dataclass_fields__))
    return f"a field is missing: {text.removeprefix('Layer.__init__() missing ')}", "give it"


def folder_of(layer: str) -> Path:
    """Return the folder of a layer."""
    return place(f"firmware/{layer}")


def has_program(layer: str) -> bool:
    """Return True if a message layer has a NIC program in Python, and not only in C or none."""
    return exists(layer) and load(layer).firmware is not None


def nic_program(layer: str) -> Callable[[Nic, ClusterView], Coroutine[Any, Any, None]]:
    """Return the NIC program of a message layer. Raises LookupError for a layer without one."""
    program = load(layer).firmware
    if program is None:
        raise LookupError(f"message layer {layer!r} has no NIC program in Python")
    return program


def host_library(layer: str) -> Callable[..., Any]:
    """Return the host library class of a message layer. Raises LookupError for an unknown layer.

    Its arguments are host, view, and for a stacked layer the library below (`firmware.stack`).
    """
    return load(layer).library


def check_options(layer: str, options: Options, nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Raise SanlabError (exit code 2) for options that are impossible on a cluster, or for too many nodes.

    Args:
        layer: Name of the layer.
        options: Options of the layer by name.
        nodes: Number of nodes of the cluster.
        sram_bytes: Size of each NIC's SRAM.
        card: Map of the NIC's card.
    """
    load(layer).check(options, nodes, sram_bytes, card)


def holds_link(layer: str, options: Options) -> str:
    """Return the options with which a NIC accepts no packet while it waits for its own link, or an empty text."""
    holds = load(layer).holds_link
    return holds(options) if holds is not None else ""


def tolerates_loss(layer: str, options: Options) -> bool:
    """Return True if a message layer recovers lost and damaged packets."""
    return load(layer).repairs(options)


def card_bytes(layer: str, options: Options) -> int | None:
    """Return the largest payload in bytes of a message from an FPGA card, or None if the layer sets no limit."""
    most = load(layer).card_bytes
    return most(options) if most is not None else None


def composition(layer: str, options: Options) -> tuple[str, ...]:
    """Return the parts that a message layer is composed of with these options.

    The costs of its paths are those of `paths.c` compiled for this composition (`pymodels.costs.compositions`).
    """
    composed = load(layer).composition
    return composed(options) if composed is not None else ()


def shown(layer: str) -> Shown:
    """Return the report data of a message layer, or that of the hardware alone for an unknown or empty name."""
    return load(layer).shown if exists(layer) else HARDWARE_SHOWN


def with_mail() -> list[str]:
    """Return the layers that have mail, sorted."""
    return [name for name in names() if load(name).mail is not None]


def open_mail(layer: str, library: Any) -> Mail:
    """Return mail over an opened library of a layer. Raises LookupError for a layer without mail."""
    opened = load(layer).mail
    if opened is None:
        raise LookupError(f"message layer {layer!r} has no mail")
    return opened(library)


def patient(layer: str) -> Mapping[str, float | str]:
    """Return the options of a layer that keep its timers from disturbing measurements."""
    return load(layer).patient


def boot_words(layer: str, view: ClusterView, word_bytes: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the words that the driver writes into SRAM for a layer's C firmware, by address.

    Args:
        layer: Name of the layer.
        view: View of the node.
        word_bytes: Bytes of an SRAM word.
    """
    boot = load(layer).boot
    words = () if boot is None else boot.words(view, word_bytes)
    return tuple((address, tuple(row)) for address, row in words)


def boot_waits(layer: str, nic: Nic, view: ClusterView) -> Callable[[], Iterable[Wait]]:
    """Return a function that lists the resources that a layer's C firmware waits for on a NIC."""
    boot = load(layer).boot
    return tuple if boot is None else lambda: boot.waits(nic, view)


def check_boot(layer: str, options: Options, needs: Sequence[str]) -> None:
    """Raise SanlabError for options, or needs of a study, that a layer's C firmware does not support."""
    boot = load(layer).boot
    if boot is not None:
        boot.check(options, needs)
