"""Descriptor of a study: the names of its module that sanlab reads, with their types and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from pymodels.errors import ConfigError
from tb.plan.options import Option


class StudyError(ConfigError):
    """Invalid study file; the message names file and line."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Properties that the module of a study declares."""

    options: Mapping[str, Option] = field(default_factory=lambda: MappingProxyType({}))
    """Settings for SET by name (`OPTIONS`)."""
    starts: Sequence[str] = ()
    """Message layers that the study starts (`LAYER`)."""
    known: Sequence[str] = ()
    """Message layers of which the study starts one (`LAYERS`)."""
    needs: Sequence[str] = ()
    """Features of the layer that C firmware may lack, in the words of the layer's `boot.py` (`NEEDS`)."""
    cluster: str | None = None
    """Example cluster that the study needs (`CLUSTER`)."""
    design: Any = None
    """Design to build if it is not a cluster (`DESIGN`)."""
    least_hosts: int | None = None
    """Minimum number of hosts (`HOSTS`); None: 2 with a message layer, else 1."""
    cyclic_routes: bool = False
    """True to accept routes or layer options with which packets can deadlock (`CYCLIC_ROUTES`)."""
    quick: str = ""
    """Settings of the study in `make figures QUICK=1` (`QUICK`)."""
    tiny: str = ""
    """Settings of the smallest run, with equal results on both simulators, with gated and always-on clocks (`TINY`)."""
    variants: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """Further runs of `make figures` by name: profile, and settings as in SET (`VARIANTS`)."""
    on_board: str | None = None
    """Settings with which the study runs on a board, or None if it cannot (`ON_BOARD`)."""
    check: Callable[[Any], None] | None = None
    """Function that raises ConfigError for an invalid plan before anything is built (`check`)."""
    cores: Callable[[Any], bool] | None = None
    """Function that returns True if NICs need executing processors although none runs C firmware at first (`cores`)."""


class Name(NamedTuple):
    """Name of a module that declares a property."""

    property: str
    valid: Callable[[Any], bool]
    right: str
    """Values that are valid, for the error."""


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> bool:
    return isinstance(value, Sequence) and all(map(_text, value))


def _options(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, Option) for one in value.values())


def _variants(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        not _text(one) and _texts(one) and len(one) == 2 for one in value.values()
    )


SETTINGS, FUNCTION = "give a text of settings, as in SET", "define a function of the plan"
NAMES: Mapping[str, Name] = {
    "OPTIONS": Name("options", _options, "give a table of `Option` by name"),
    "LAYER": Name("starts", _texts, "give the name of a layer, or a tuple of names"),
    "LAYERS": Name("known", lambda value: _texts(value) and len(value) > 0, "give a tuple of names of layers"),
    "NEEDS": Name("needs", lambda value: _texts(value) and not _text(value), "give a tuple of features"),
    "CLUSTER": Name("cluster", _text, "give the name of a cluster"),
    "DESIGN": Name("design", lambda value: True, ""),
    "HOSTS": Name("least_hosts", lambda value: type(value) is int and value > 0, "give a number of hosts from 1"),
    "CYCLIC_ROUTES": Name("cyclic_routes", lambda value: isinstance(value, bool), "give True or False"),
    "QUICK": Name("quick", _text, SETTINGS),
    "TINY": Name("tiny", _text, SETTINGS),
    "VARIANTS": Name("variants", _variants, "give (profile, settings) by name of the run"),
    "ON_BOARD": Name("on_board", _text, SETTINGS),
    "check": Name("check", callable, FUNCTION),
    "cores": Name("cores", callable, FUNCTION),
}
"""Properties by the name in a module."""


def declared(module: ModuleType) -> dict[str, Any]:
    """Return the properties of `Declared` that a module declares, by name.

    Raises StudyError for a value of another type.
    """
    found: dict[str, Any] = {}
    for name, (what, valid, right) in NAMES.items():
        if name not in vars(module):
            continue
        value = vars(module)[name]
        if not valid(value):
            cause = f"{name} is of type {type(value).__name__}" if name == "OPTIONS" else f"{name} is {value!r}"
            raise StudyError(module.__file__ or module.__name__, 0, "not a study", cause[:200], right)
        found[what] = (value,) if name == "LAYER" and isinstance(value, str) else value
    return found
