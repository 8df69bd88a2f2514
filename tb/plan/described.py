"""Descriptions of all settings of a study: name, type, range or choices, unit, default, meaning."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from pymodels.hardware.schema import Key
from pymodels.profiles import DEFAULT_PROFILE, Profile, load_profile
from tb.plan.options import Option, layer_options
from tb.plan.request import RUN_OPTIONS
from tb.plan.studies import CHOICE, StudyInfo

STUDY, RUN = "study", "every study"
UNITS = ("ps", "ns", "us", "ms", "s", "bytes", "kb", "MB", "metres")
"""Units at the end of a setting's name, after an underscore."""
WIDTH = 36
"""Maximum width of the column of names; the meaning of a longer name starts further right."""
TYPES = {"bool": "true or false", "int": "whole number", "float": "number", "str": "text"}


@dataclass(frozen=True)
class Setting:
    """Description of one setting of `SET="name=value"`."""

    name: str
    group: str
    """Owner of the setting: `study`, `layer <name>`, `every study` or `profile <name>`."""
    type: str
    """`whole number`, `number`, `text` or `true or false`."""
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    """Valid words of a text; empty: any text."""
    unit: str
    default: float | str
    meaning: str

    @property
    def values(self) -> str:
        """Valid values in words: type, range or choices, and unit."""
        if self.choices:
            return " | ".join(word or '""' for word in self.choices)
        if self.low is None or self.high is None:
            return self.type
        if self.type == TYPES["int"] and (self.low, self.high) == (0, 1):
            return "0 or 1"
        return f"{self.type}, {self.low:,} to {self.high:,}" + (f" {self.unit}" if self.unit else "")

    def plain(self) -> dict[str, object]:
        """Return the description as plain values for JSON."""
        return asdict(self)


def settings_of(info: StudyInfo, profile: str = "") -> list[Setting]:
    """Return every setting that a run of a study accepts.

    The study's own settings come first, then those of its layers, those of every study, and the values of the profile.

    Args:
        info: Study with its message layer chosen.
        profile: Name of the hardware profile; the default profile if empty.

    Raises:
        ConfigError: The profile is unknown or invalid.
    """
    used = load_profile(profile or DEFAULT_PROFILE)
    own = [_of_option(name, option, _owner(name)) for name, option in info.options.items()]
    every = [_of_option(name, option, RUN) for name, option in RUN_OPTIONS.items() if name not in info.options]
    return [*sorted(own, key=lambda one: one.group != STUDY), *every, *_of_profile(used)]


def lines(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield the settings as text for a terminal, one a line, below the heading of their group."""
    width = min(max((len(f"{one.name}={one.default}") for one in settings), default=0), WIDTH)
    for group, members in groupby(settings, key=lambda one: one.group):
        yield f"settings of {group}:"
        for one in members:
            given = shlex.quote(one.default) if isinstance(one.default, str) else one.default
            yield f"  {f'{one.name}={given}':{width}}  {one.meaning} [{one.values}]"


def _owner(name: str) -> str:
    """Return the owner of a study's option: the study, or the message layer that prefixes the name."""
    layer, dot, _ = name.partition(".")
    return f"layer {layer}" if dot and name != CHOICE and name in layer_options(layer) else STUDY


def _of_option(name: str, option: Option, group: str) -> Setting:
    text = isinstance(option.default, str)
    last = name.rpartition("_")[2] if "_" in name else ""
    unit = option.unit or (last if last in UNITS else "")
    return Setting(
        name,
        group,
        TYPES[type(option.default).__name__],
        None if text else option.low,
        None if text else option.high,
        option.choices,
        "" if text else unit,
        option.default,
        option.meaning,
    )


def _of_profile(profile: Profile) -> Iterator[Setting]:
    """Yield the values of a profile as settings."""
    keys = profile.keys
    for name, value in profile.values.items():
        key: Key = keys[name]
        low, high = (None, None) if key.type is bool else (key.low, key.high)
        group, type_ = f"profile {profile.name}", TYPES[key.type.__name__]
        yield Setting(name, group, type_, low, high, (), key.unit, value.value, key.meaning)
