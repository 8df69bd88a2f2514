"""Declared settings: default, meaning, range or choices, and unit, with a common check of values and form of errors.

Studies, message layers and runs declare their settings as `Option`. Values of profiles have no default
(`pymodels.hardware.schema`) and are checked by the same function, `number_fault`.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from pymodels import numerals
from pymodels.errors import EXIT_CONFIGURATION, ConfigError, SanlabError, nearest

SETTING = "SET"
"""Make variable that sets values for one run."""
Fault = tuple[str, str, str]
"""Subject, cause and remedy of a violation: the arguments of a `SanlabError`."""
NumberType = type[int] | type[float] | type[bool]
IN_WORDS: dict[NumberType, str] = {int: "a whole number", float: "a number", bool: "true or false"}
BOOLS = {"true": True, "1": True, "false": False, "0": False}


class OptionError(SanlabError):
    """Invalid option of a message layer."""

    exit_code = EXIT_CONFIGURATION


@dataclass(frozen=True)
class Option:
    """A setting: its default, meaning and range. The default's type is the type of the setting."""

    default: float | str
    meaning: str
    low: float = 0
    high: float = 1 << 31
    choices: tuple[str, ...] = ()
    """Valid words of a text setting; empty if any text is valid."""
    unit: str = ""
    """Unit of the value; empty for a value without unit, or if the setting's name ends with it (`timeout_us`)."""

    def fault(self, name: str, value: object) -> Fault | None:
        """Return the violation of type, range or choices by a value of the setting `name`, or None if the value is
        valid.
        """
        if not isinstance(self.default, str):
            return number_fault(name, value, type(self.default), self.low, self.high, self.unit)
        if self.choices and value not in self.choices:
            return "unknown word", f"{name} is {value!r}", nearest(str(value), filter(None, self.choices))
        return None if isinstance(value, str) else ("wrong type", f"{name} is {value!r}", "give a text")

    def check(self, name: str, value: object) -> None:
        """Raise OptionError for an invalid value of the setting `name`."""
        if (fault := self.fault(name, value)) is not None:
            raise OptionError(*fault)

    def parse(self, name: str, text: str) -> float | str:
        """Return the value that a text denotes. Raises ConfigError if it denotes no valid value."""
        value = text if isinstance(self.default, str) else number(text, type(self.default))
        if (fault := self.fault(name, value)) is not None:
            raise ConfigError(SETTING, 0, *fault)
        return value


def number(text: str, kind: NumberType) -> float | str:
    """Return the number that a text denotes, or the text itself if it is not a number of this type."""
    with contextlib.suppress(ValueError):
        if kind is bool:
            return BOOLS.get(text.lower(), text)
        return numerals.whole(text, 0) if kind is int else numerals.real(text)
    return text


def number_fault(name: str, value: object, kind: NumberType, low: float, high: float, unit: str = "") -> Fault | None:
    """Return the violation of type or range by a number called `name`; None: the value is valid.

    Args:
        name: Name of the value, as the user gives it.
        value: The value.
        kind: Type of valid values. A whole number is a valid float; a bool is not a valid number.
        low: Least valid value.
        high: Greatest valid value.
        unit: Unit of the value, for the message.
    """
    if type(value) is not kind and not (kind is float and type(value) is int):
        return "wrong type", f"{name} is {value!r}", f"give {IN_WORDS[kind]}" + (f" ({unit})" if unit else "")
    if kind is not bool and not low <= value <= high:
        return "value out of range", f"{name} is {value}", f"give {low} to {high}" + (f" {unit}" if unit else "")
    return None
