"""Options of message layers, declared once each: default, meaning, range or choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, TypeVar

from pymodels.errors import nearest
from pymodels.options import Option, OptionError

__all__ = ["ON", "LayerOptions", "OptionError", "option"]

ON = "on"
"""Option of a stacked layer that selects the layer below."""
DECLARATION = "option"
Value = TypeVar("Value", int, str)
Own = TypeVar("Own", bound="LayerOptions")


def option(
    default: Value, meaning: str, low: int = 0, high: int = 1 << 31, choices: Sequence[str] = (), unit: str = ""
) -> Value:
    """Declare an option of a layer: return the field of its dataclass `Options`.

    Args:
        default: Default value; its type is the type of the option.
        meaning: Meaning, as `make studies STUDY=...` prints it.
        low: Least valid number.
        high: Greatest valid number.
        choices: Valid words of a text.
        unit: Unit, where the end of the name does not have it (`timeout_us`).
    """
    return field(default=default, metadata={DECLARATION: Option(default, meaning, low, high, tuple(choices), unit)})


@dataclass(frozen=True)
class LayerOptions:
    """Base of the options of a layer, a frozen dataclass whose fields are declared with `option`."""

    STACKED: ClassVar[bool] = False
    """True for a layer on other layers: `of` ignores option `on`, which selects the layer below."""

    @classmethod
    def declared(cls) -> Mapping[str, Option]:
        """Return the declarations of all options, by name."""
        return {one.name: one.metadata[DECLARATION] for one in fields(cls)}

    @classmethod
    def from_values(cls: type[Own], given: Mapping[str, float | str]) -> Own:
        """Return the options with the given values. Raises OptionError for an unknown name or an invalid value."""
        known, layer = cls.declared(), cls.__module__.removeprefix("firmware.").partition(".")[0]
        own = {name: value for name, value in given.items() if not (cls.STACKED and name == ON)}
        for name, value in own.items():
            if name not in known:
                raise OptionError(f"unknown option {name!r}", f"{layer} has no such option", nearest(name, known))
            known[name].check(f"{layer}.{name}", value)
        options = cls(**cls.completed(own))
        options.check()
        return options

    @classmethod
    def completed(cls, given: Mapping[str, float | str]) -> Mapping[str, float | str]:
        """Return valid values with those that they imply. Hook of a layer with presets."""
        return given

    def check(self) -> None:
        """Raise OptionError for values that exclude each other. Hook of a layer with such values."""
