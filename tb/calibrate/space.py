"""Space of uncertain values of a family: dimensions, positions from 0 to 1, and their settings."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import ConfigError, nearest
from pymodels.hardware.ranges import range_of
from pymodels.hardware.schema import Key, Owner, Scalar
from pymodels.options import Option
from pymodels.profiles import Profile
from pymodels.toml import read_toml

FILE = Path(__file__).with_name("unknowns.toml")
OPTION = ""
"""Place of the span of a study's or a layer's option, which belongs to no profile."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    """Values of one key on one profile: a range, or a list of choices."""

    key: Key
    value: Scalar
    low: Scalar
    high: Scalar
    choices: tuple[Scalar, ...] = ()

    def at(self, share: float) -> Scalar:
        """Return the value at a position from 0 to 1, rounded as the key requires."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        value = self.low + share * (self.high - self.low)
        if self.key.type is int:
            return 2 * round(value / 2) if self.key.even else round(value)
        return value

    def rounded(self, shares: Array) -> Array:
        """Return positions of the values that these positions have."""
        if self.choices:
            count = len(self.choices)
            return (np.minimum(np.floor(shares * count), count - 1) + 0.5) / count
        if self.key.type is not int:
            return shares
        step, span = 2 if self.key.even else 1, self.high - self.low
        return (step * np.round((self.low + shares * span) / step) - self.low) / span

    @property
    def share(self) -> float:
        """Position of the profile's value, from 0 to 1."""
        return self.position(self.value)

    def position(self, value: Scalar) -> float:
        """Return the position of a value: from 0 to 1 inside the range, NaN for no choice."""
        if self.choices:
            return (self.choices.index(value) + 0.5) / len(self.choices) if value in self.choices else math.nan
        return float(value - self.low) / float(self.high - self.low)


@dataclass(frozen=True)
class Dimension:
    """Uncertain value of a family, with its span on each profile that has it, and the reason of the range.

    The span of an option of a study or layer is at `OPTION`; it applies to the runs that have the option.
    """

    name: str
    spans: Mapping[str, Span]
    why: str

    @property
    def first(self) -> Span:
        """Span on the first profile."""
        return next(iter(self.spans.values()))


@dataclass(frozen=True)
class Unknowns:
    """Declared unknown values and run settings of one family.

    Attributes:
        values: Range or choices and reason, by key.
        settings: Settings of the runs by study, as in SET.
        without: Reason for each row that is not run.
    """

    values: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, str]
    without: Mapping[str, str] = field(default_factory=dict)


def load_unknowns(family: str, path: Path = FILE) -> Unknowns:
    """Return the declared unknowns of a family. Raises ConfigError for an incomplete entry."""
    data, text = read_toml(path)
    entry = data.get(family, {})
    for name in entry:
        if name not in ("settings", "unknown", "without"):
            remedy = "write settings, unknown or without"
            raise ConfigError(str(path), _line(text, name), f"unknown key {name!r}", family, remedy)
    for name, one in entry.get("unknown", {}).items():
        shape = set(one) - {"why"}
        listed = shape == {"choices"} and len(one["choices"]) > 1
        ranged = shape == {"low", "high"} and one["low"] < one["high"]
        if not (listed or ranged) or not one.get("why"):
            cause, remedy = f"{name} has {', '.join(one)}", "write low < high, or two or more choices, and why"
            raise ConfigError(str(path), _line(text, name), "unknown value incomplete", cause, remedy)
    return Unknowns(entry.get("unknown", {}), entry.get("settings", {}), entry.get("without", {}))


def _line(text: str, word: str) -> int:
    return next((at for at, row in enumerate(text.splitlines(), 1) if word in row), 0)


System = tuple[Profile, Container[str], Mapping[str, Option]]
"""Profile of a run, the keys that the run sets, which are not varied there, and the options of its study and layers."""


def dimensions(systems: Iterable[System], unknowns: Unknowns) -> tuple[Dimension, ...]:
    """Return the uncertain values of some runs in the order of their keys.

    A declared unknown replaces the range of its key in `ranges.toml`. The same position applies to all profiles.
    Numbers among the options are varied only if they are declared.

    Raises:
        ConfigError: No run has a declared key, or a declared range excludes the value of a profile or a default.
    """
    spans: dict[str, dict[str, Span]] = {}
    reasons: dict[str, str] = {}
    known: set[str] = set()
    for profile, given, options in systems:
        numbers = {name: one for name, one in options.items() if not isinstance(one.default, str)}
        known |= profile.keys.keys() | numbers.keys()
        for name in unknowns.values.keys() & numbers.keys() - profile.keys.keys():
            if name not in given:
                declared = unknowns.values[name]
                spans.setdefault(name, {})[OPTION], reasons[name] = _option_span(name, numbers[name], declared)
        for name, key in profile.keys.items():
            if name in given:
                continue
            found = _span(profile, name, key, unknowns.values.get(name))
            if found is not None:
                spans.setdefault(name, {})[profile.name], why = found
                reasons.setdefault(name, why)
    for name in unknowns.values:
        if name not in known:
            raise ConfigError(str(FILE), 0, "unknown key", repr(name), nearest(name, known))
    return tuple(Dimension(name, spans[name], reasons[name]) for name in sorted(spans))


def _span(profile: Profile, name: str, key: Key, declared: Mapping[str, Any] | None) -> tuple[Span, str] | None:
    value = profile.values[name].value
    if declared is None:
        known = range_of(key, profile.values[name])
        if known is None or known.low == known.high:
            return None
        return Span(key, value, known.low, known.high), known.why
    return _declared_span(key, value, declared, f" on {profile.name}")


def _option_span(name: str, option: Option, declared: Mapping[str, Any]) -> tuple[Span, str]:
    number = float(option.default)
    value = int(number) if isinstance(option.default, int) else number
    key = Key(name, Owner.HOST, type(value), option.unit, option.low, option.high, option.meaning)
    return _declared_span(key, value, declared, " by default")


def _declared_span(key: Key, value: Scalar, declared: Mapping[str, Any], where: str) -> tuple[Span, str]:
    choices = tuple(declared.get("choices", ()))
    low, high = (min(choices), max(choices)) if choices else (declared["low"], declared["high"])
    if value not in choices if choices else not low <= value <= high:
        cause = f"{key.name} is {value}{where}, outside {list(choices) or [low, high]}"
        raise ConfigError(str(FILE), 0, "range excludes the value of the profile", cause, "widen the range")
    return Span(key, value, low, high, choices), str(declared["why"])


def settings(space: Sequence[Dimension], profile: str, shares: Array, options: Container[str] = ()) -> dict[str, str]:
    """Return the settings of a position for one run.

    Args:
        space: Dimensions.
        profile: Name of the run's profile.
        shares: Position from 0 to 1 in each dimension.
        options: Options of the run's study and layers.
    """
    found = {}
    for one, share in zip(space, shares, strict=True):
        span = one.spans.get(profile) or (one.spans.get(OPTION) if one.name in options else None)
        if span is not None:
            value = span.at(float(share))
            found[one.name] = f"{value:.6g}" if isinstance(value, float) else str(value)
    return found


def rounded(space: Sequence[Dimension], shares: Array) -> Array:
    """Return positions, one a row, of the values on the first profile that has each: whole numbers and choices."""
    return np.column_stack([one.first.rounded(shares[:, at]) for at, one in enumerate(space)])


def default(space: Sequence[Dimension]) -> Array:
    """Return the position of the profiles' own values."""
    return np.array([one.first.share for one in space])
