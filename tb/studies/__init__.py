"""Studies: one file each. A study says what is asked, runs it on a cluster in RTL, and hands in what it measured.

A study module has a docstring (its first line is the question), optionally `OPTIONS` (its keys for SET), `LAYER` (the
message layer that it starts: refused on a NIC for which it is not compiled), `CLUSTER` (the example cluster it needs,
else the user's), `DESIGN` (what is built when it is not a cluster), `CYCLIC_ROUTES` (it may run with given routes, or
options of its layer, that can deadlock), `QUICK` (settings, as SET has them, that keep it within half a minute),
`VARIANTS` (further runs of `make figures`: profile and settings by name), `check(plan)` (raises ConfigError for
settings that cannot be, before anything is built), and `async def run(lab: Lab) -> None`. It imports no simulator, and
names no published figure.

A study outside this folder is named by its module, with dots: `my_package.my_study`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from firmware.layers import check_options, holds_link
from pymodels.cards import CardMap
from pymodels.errors import ConfigError, nearest


@dataclass(frozen=True)
class Option:
    """A setting of a study: its default, meaning and range. The default's type is the option's type."""

    default: float | str
    meaning: str
    low: int = 0
    high: int = 1 << 31
    choices: tuple[str, ...] = ()
    """The words that a text option knows; empty: any."""

    def parse(self, name: str, text: str) -> float | str:
        """Text as a value. Raises ConfigError for a wrong type, a value out of range, an unknown word."""
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                raise ConfigError("SET", 0, "unknown word", f"{name} is {text!r}", nearest(text, self.choices))
            return text
        whole = isinstance(self.default, int)
        try:
            value = int(text, 0) if whole else float(text)
        except ValueError:
            remedy = "give a whole number" if whole else "give a number such as 1e-3"
            raise ConfigError("SET", 0, "wrong type", f"{name} is {text!r}", remedy) from None
        if not self.low <= value <= self.high:
            raise ConfigError("SET", 0, "value out of range", f"{name} is {value}", f"give {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class StudyInfo:
    """What is known of a study without running it."""

    name: str
    question: str
    options: Mapping[str, Option]
    cluster: str | None
    design: Any
    """What is built when it is not a cluster (`DESIGN` of the module), else None."""
    module: ModuleType
    check: Callable[[Any], None] | None = None
    """Looks at the whole plan before anything is built (`check` of the module)."""
    cyclic_routes: bool = False
    """Given routes, or options of a layer, with which packets can wait for each other in a circle are not refused
    (`CYCLIC_ROUTES` of the module).
    """
    quick: str = ""
    """Settings for a first look (`QUICK` of the module): what `make figures QUICK=1` runs it with."""

    variants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Further runs of `make figures` by name (`VARIANTS` of the module): profile, and settings as SET has them."""

    @property
    def run(self) -> Any:
        """The study itself."""
        return self.module.run


def layer_options(layer: str) -> dict[str, Option]:
    """The run-time options of a message layer as settings `<layer>.<option>`; none when it has no options module."""
    try:
        module = importlib.import_module(f"firmware.nic.{layer}.options")
    except ModuleNotFoundError:
        return {}
    defaults = module.Options()
    numbers = {
        name: Option(getattr(defaults, name), f"option {name} of {layer}", *bounds)
        for name, bounds in module.RANGES.items()
    }
    words = {
        name: Option(getattr(defaults, name), f"option {name} of {layer}", choices=known)
        for name, known in getattr(module, "WORDS", {}).items()
    }
    return {f"{layer}.{name}": option for name, option in {**numbers, **words}.items()}


def check_layers(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check the options of message layers together, as the layers do on `nodes` NICs with `sram_bytes`, on such cards.

    Raises SanlabError (exit code 2) naming one.
    """
    for layer, values in options_by_layer(options).items():
        check_options(layer, values, nodes, sram_bytes, card)


def options_by_layer(options: Mapping[str, float | str]) -> dict[str, dict[str, float | str]]:
    """The options of message layers among those of a study, by layer."""
    given: dict[str, dict[str, float | str]] = {}
    for name, value in options.items():
        layer, dot, option = name.partition(".")
        if dot and layer_options(layer):
            given.setdefault(layer, {})[option] = value
    return given


def links_held(options: Mapping[str, float | str]) -> str:
    """What among the options of message layers makes NICs take no packet while they wait for their own link."""
    held = {layer: holds_link(layer, values) for layer, values in options_by_layer(options).items()}
    return " ".join(f"{layer}.{option}" for layer, told in held.items() for option in told.split())


def names() -> list[str]:
    """The studies that exist."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def load(name: str) -> StudyInfo:
    """A study by name, or by its module with dots. Raises ConfigError naming the nearest."""
    module = _outside(name) if "." in name else None
    if module is None:
        if name not in names():
            remedy = nearest(name, names())
            raise ConfigError("STUDY", 0, f"unknown study {name!r}", "STUDY names a file of tb/studies", remedy)
        module = importlib.import_module(f"tb.studies.{name}")
    question = (module.__doc__ or "").strip().split("\n")[0]
    return StudyInfo(
        name,
        question,
        getattr(module, "OPTIONS", {}),
        getattr(module, "CLUSTER", None),
        getattr(module, "DESIGN", None),
        module,
        getattr(module, "check", None),
        getattr(module, "CYCLIC_ROUTES", False),
        getattr(module, "QUICK", ""),
        getattr(module, "VARIANTS", {}),
    )


def _outside(name: str) -> ModuleType | None:
    """The module of a study that stands outside tb/studies; None when there is none."""
    try:
        module = importlib.import_module(name)
    except (ModuleNotFoundError, TypeError):
        return None
    return module if inspect.iscoroutinefunction(getattr(module, "run", None)) else None
