"""Settings by name: those of a study, and the options of message layers among them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import ModuleType

from firmware.layers import check_options, holds_link, names
from firmware.stack import ON, grounds
from pymodels import numerals
from pymodels.cards import CardMap
from pymodels.errors import ConfigError, nearest
from tb.plan.modules import module_if_there


@dataclass(frozen=True)
class Option:
    """A setting of a study: its default, meaning and range. The default's type is the option's type."""

    default: float | str
    meaning: str
    low: int = 0
    high: int = 1 << 31
    choices: tuple[str, ...] = ()
    """The words that a text option knows; empty: any."""
    unit: str = ""
    """Unit of the value; empty where the end of the name has it (`timeout_us`), or there is none."""

    def parse(self, name: str, text: str) -> float | str:
        """Text as a value. Raises ConfigError for a wrong type, a value out of range, an unknown word."""
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                raise ConfigError("SET", 0, "unknown word", f"{name} is {text!r}", nearest(text, self.choices))
            return text
        whole = isinstance(self.default, int)
        try:
            value = numerals.whole(text, 0) if whole else numerals.real(text)
        except ValueError:
            remedy = "give a whole number" if whole else "give a number such as 1e-3"
            raise ConfigError("SET", 0, "wrong type", f"{name} is {text!r}", remedy) from None
        if not self.low <= value <= self.high:
            raise ConfigError("SET", 0, "value out of range", f"{name} is {value}", f"give {self.low} to {self.high}")
        return value


def layer_options(layer: str) -> dict[str, Option]:
    """The run-time options of a message layer as settings `<layer>.<option>`; none when it has no options module."""
    known = grounds(layer) if layer in names() else ()
    chosen = {f"{layer}.{ON}": Option(known[0], f"what {layer} stands on", choices=known)} if len(known) > 1 else {}
    module = module_if_there(f"firmware.{layer}.options")
    if module is None:
        return chosen
    defaults, meanings = module.Options(), field_meanings(module)
    numbers = {name: Option(getattr(defaults, name), meanings[name], *bounds) for name, bounds in module.RANGES.items()}
    words = {
        name: Option(getattr(defaults, name), meanings[name], choices=known)
        for name, known in getattr(module, "WORDS", {}).items()
    }
    return {**chosen, **{f"{layer}.{name}": option for name, option in {**numbers, **words}.items()}}


@cache
def field_meanings(module: ModuleType) -> Mapping[str, str]:
    """Return the docstring below each field of a module's class `Options`, on one line, by the name of the field."""
    body = next(
        part.body
        for part in ast.parse(inspect.getsource(module)).body
        if isinstance(part, ast.ClassDef) and part.name == "Options"
    )
    meanings = {}
    for field, below in pairwise([*body, ast.Pass()]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = below.value if isinstance(below, ast.Expr) else None
            text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
            meanings[field.target.id] = " ".join(text.split()).removesuffix(".")
    return meanings


def stack_options(layer: str) -> dict[str, Option]:
    """The options of a message layer, and of all layers that it can stand on."""
    below = [stack_options(one) for one in grounds(layer)]
    return {name: option for options in (*below, layer_options(layer)) for name, option in options.items()}


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
        if dot:
            given.setdefault(layer, {})[option] = value
    return {layer: values for layer, values in given.items() if layer_options(layer)}


def links_held(options: Mapping[str, float | str]) -> str:
    """What among the options of message layers makes NICs take no packet while they wait for their own link."""
    held = {layer: holds_link(layer, values) for layer, values in options_by_layer(options).items()}
    return " ".join(f"{layer}.{option}" for layer, told in held.items() for option in told.split())
