"""Hardware profile: a NIC and a host, with unit, origin and source of each value.

The name of a profile is `<nic>` (with the host that its file names) or `<nic>+<host>`. Values that belong to a pair of
NIC and host (readings A1) are in the NIC's file under `with.<host>` and override both files.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pymodels.cards import CardMap
from pymodels.costs.targets import HOSTS
from pymodels.errors import ConfigError, nearest
from pymodels.hardware.discover import nic_kind
from pymodels.hardware.schema import Key, Origin, Owner, Scalar, fault_of
from pymodels.hardware.value import Value
from pymodels.options import SETTING, number
from pymodels.profiles.keys import keys_of
from pymodels.profiles.reader import ProfileFile, read_profile_file
from pymodels.roots import files_by_name
from pymodels.toml import read_text

if TYPE_CHECKING:
    from pymodels.costs.targets import Target
    from pymodels.hardware.kind import NicKind


@dataclass(frozen=True)
class Profile:
    """Values of a NIC and its host by key. `rtl` is False for a NIC that is described but cannot be simulated."""

    name: str
    kind: str
    host: str
    rtl: bool
    processor: str
    """Name of the host's processor among the targets of compiled costs."""
    values: Mapping[str, Value]

    def integer(self, key: str) -> int:
        """Return the value of an integer key. Raises KeyError if the NIC has no such value, TypeError for another
        type.
        """
        value = self.values[key].value
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{key} is not a whole number")
        return value

    def number(self, key: str) -> float:
        """Return the value of a number key. Raises KeyError if the NIC has no such value."""
        return float(self.values[key].value)

    def flag(self, key: str) -> bool:
        """Return the value of a boolean key. Raises KeyError if the NIC has no such value."""
        return bool(self.values[key].value)

    @property
    def nic(self) -> NicKind:
        """Kind of the profile's NIC."""
        return nic_kind(self.kind)

    @property
    def host_target(self) -> Target:
        """Target for which the host side of a layer is compiled."""
        return HOSTS[self.processor]

    @property
    def keys(self) -> dict[str, Key]:
        """Keys of the profile's values, by name."""
        return keys_of(Owner.NIC, self.kind) | keys_of(Owner.HOST)

    @property
    def card(self) -> CardMap:
        """Address map of the NIC's card on the host's bus."""
        return self.nic.card(self.integer("sram.bytes"), self)

    def cable_characters(self, metres: float | None) -> int:
        """Return the time of flight of a cable in characters, rounded up, at least 1. None: the profile's default
        length.
        """
        length = self.number("cable.metres") if metres is None else metres
        flight = length * self.number("cable.ns_per_metre") * 1000 / self.integer("clock.link_ps")
        return max(math.ceil(round(flight, 6)), 1)

    def fall_through_characters(self) -> int:
        """Return the latency of an idle switch in characters, rounded to the nearest."""
        return round(self.integer("switch.fall_through_ns") * 1000 / self.integer("clock.link_ps"))

    def override(self, settings: Mapping[str, str], also_known: Iterable[str] = ()) -> Profile:
        """Return the profile with the user's settings (`SET="key=value ..."`), whose origin becomes `assumed`.

        Args:
            settings: Texts by key.
            also_known: Keys of the study and layers, which are skipped.

        Raises:
            ConfigError: A key is unknown, or a value has the wrong type or is out of range.
        """
        others = set(also_known)
        values, keys = dict(self.values), self.keys
        for name, text in settings.items():
            if name in others:
                continue
            if name not in self.values:
                where = f"profile {self.name!r} has no such value"
                raise ConfigError(SETTING, 0, f"unknown key {name!r}", where, nearest(name, others | set(self.values)))
            key = keys[name]
            values[name] = Value(typed(key, text), key.unit, Origin.ASSUMED, f"{SETTING} of this run")
        changed = replace(self, values=values)
        _check_together(changed, SETTING)
        return changed


def parse_settings(text: str) -> dict[str, str]:
    """Return the settings in a text `key=value key=value`, with shell quoting, as in `file="my file"`.

    Raises ConfigError for a word without `=`, a repeated key, and an unterminated quotation.
    """
    settings: dict[str, str] = {}
    try:
        words = shlex.split(text)
    except ValueError:
        raise ConfigError(SETTING, 0, "quotation without end", repr(text), "close it, or write \\ before it") from None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise ConfigError(SETTING, 0, "not a setting", repr(word), "write key=value")
        if key in settings:
            raise ConfigError(SETTING, 0, f"{key} given twice", f"{settings[key]!r} and {value!r}", "keep one")
        settings[key] = value
    return settings


def typed(key: Key, text: str) -> Scalar:
    """Return the value of a key that a text denotes. Raises ConfigError for the wrong type or a value out of range."""
    value = number(text, key.type)
    if (fault := fault_of(key, value)) is not None or isinstance(value, str):
        raise ConfigError(SETTING, 0, *(fault or ("wrong type", text, "give a value")))
    return value


def _names(owner: Owner) -> dict[str, Path]:
    """Return the profile files of an owner by name; files of NICs have a key `kind`, those of hosts do not."""
    files = files_by_name("pymodels/profiles", "*.toml")
    return {name: path for name, path in files.items() if _says_kind(path) == (owner is Owner.NIC)}


@cache
def _says_kind(path: Path) -> bool:
    """Return True if a profile file has a key `kind`."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")  # reported when it is used
    except OSError:
        return False
    return re.search(r"^\ufeff?kind *=", text, re.MULTILINE) is not None


def profile_names() -> tuple[str, ...]:
    """Return the names of the NICs that have a profile."""
    return tuple(_names(Owner.NIC))


@cache
def board_profile() -> str:
    """Return the first profile whose kind of NIC an FPGA board holds."""
    return next(name for name in profile_names() if load_profile(name).nic.board)


def profiles_with_doorbells() -> str:
    """Return the text `PROFILE=...` with the profiles whose NIC has a doorbell FIFO, for error messages."""
    return f"PROFILE={' or '.join(name for name in profile_names() if load_profile(name).card.has_doorbells)}"


def host_names() -> tuple[str, ...]:
    """Return the names of the hosts that have a profile."""
    return tuple(_names(Owner.HOST))


def check_profile_name(name: str) -> str:
    """Return `name` if its NIC and host have profiles. Raises ConfigError otherwise."""
    nic, plus, host = name.partition("+")
    if nic not in _names(Owner.NIC):
        if nic in _names(Owner.HOST):
            read_text(_names(Owner.HOST)[nic])  # reports a file that is not text
        raise ConfigError("PROFILE", 0, "unknown profile", repr(nic), nearest(nic, _names(Owner.NIC)))
    if plus and host not in _names(Owner.HOST):
        raise ConfigError("PROFILE", 0, "unknown host profile", repr(host), nearest(host, _names(Owner.HOST)))
    return name


def load_profile(name: str) -> Profile:
    """Return the profile with a name. Raises ConfigError for an unknown name, or the first mistake in its files."""
    nic_name, _, host_name = check_profile_name(name).partition("+")
    nic = read_profile_file(_names(Owner.NIC)[nic_name], Owner.NIC)
    host_name = host_name or nic.host
    if host_name not in _names(Owner.HOST):
        raise nic.error("host", "unknown host profile", repr(host_name), nearest(host_name, _names(Owner.HOST)))
    host = read_profile_file(_names(Owner.HOST)[host_name], Owner.HOST)
    return combine(nic, host, host_name)


def combine(nic: ProfileFile, host: ProfileFile, host_name: str) -> Profile:
    """Return the profile of a NIC and a host. Raises ConfigError if a value is missing or two values are
    inconsistent.
    """
    values = nic.values | host.values | nic.pairs.get(host_name, {})
    for file, owner in ((nic, Owner.NIC), (host, Owner.HOST)):
        for name, key in keys_of(owner, nic.kind).items():
            if name not in values:
                raise ConfigError(file.path, 0, "value missing", f"{name} is in no file", f"add it: {key.meaning}")
    profile = Profile(f"{nic.name}+{host_name}", nic.kind, host_name, nic.rtl, host.processor, values)
    _check_together(profile, nic.path)
    return profile


def _check_together(profile: Profile, file: str) -> None:
    """Raise ConfigError for values that are valid alone but inconsistent."""
    nic, bus = (profile.integer(f"clock.{name}_ps") for name in ("nic", "pci"))
    if profile.nic.one_clock and nic != bus:
        cause, remedy = f"clock.nic_ps is {nic}, clock.pci_ps is {bus}", "runs on the PCI clock: give both the same"
        raise ConfigError(file, 0, "values disagree", cause, f"{profile.nic.title} {remedy}")
    if (said := profile.nic.disagreement(profile)) is not None:
        raise ConfigError(file, 0, "values disagree", *said)
    for less, more in (
        ("link.go_mark", "link.stop_mark"),
        ("link.stop_mark", "link.slack"),
        ("host.interrupt_min_ns", "host.interrupt_max_ns"),
        ("sram.queue_bytes", "sram.bytes"),
    ):
        low, high = profile.integer(less), profile.integer(more)
        if low > high:
            raise ConfigError(
                file, 0, "values disagree", f"{less} is {low}, {more} is {high}", f"{less} must not exceed {more}"
            )
