"""Uncertainty range of each assumed or calibrated profile value.

Strategy: for every NIC with every host, the range of each value contains it, stays within the limits of its key, and
can be set. Missing and incomplete entries are rejected with their place, for invented tables.
"""

from __future__ import annotations

from typing import Any

import pytest

from pymodels.errors import ConfigError
from pymodels.hardware import ranges
from pymodels.hardware.ranges import UNSURE, range_of
from pymodels.hardware.schema import Key, Origin, Owner
from pymodels.hardware.value import Value
from pymodels.profiles import host_names, load_profile, profile_names

PROFILES = sorted({f"{nic}+{host}" for nic in profile_names() for host in host_names()})
KEY = Key("pci.start_delay", Owner.NIC, int, "PCI clocks", 0, 6, "a delay")
CLOCK = Key("clock.nic_ps", Owner.NIC, int, "ps", 1000, 100_000, "a period")


def value(number: float, origin: Origin = Origin.ASSUMED) -> Value:
    return Value(number, "", origin, "made up")


def given(
    monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], table: str = "pci", name: str = "start_delay"
) -> None:
    """Replace the file by this entry."""
    monkeypatch.setattr(ranges, "_entries", lambda: {"assumed": {table: {name: entry}}})


@pytest.mark.parametrize("profile", PROFILES)
def test_every_uncertain_value_has_a_range_around_it(profile: str) -> None:
    loaded = load_profile(profile)
    for name, key in loaded.keys.items():
        known, own = range_of(key, loaded.values[name]), loaded.values[name]
        assert (known is None) == (own.origin not in UNSURE)
        if known is not None:
            assert known.low <= own.value <= known.high and known.why, name
            for end in {known.low, known.high} - {own.value}:
                assert loaded.override({name: str(end)}).values[name].value == end


@pytest.mark.parametrize("profile", PROFILES)
def test_remainder_of_a_published_total_is_calibrated(profile: str) -> None:
    values = load_profile(profile).values
    left = {f"host.{name}_ns" for name in ("post_user", "post_kernel", "packet", "frame")}
    assert {values[name].origin for name in left if values[name].value} <= {Origin.CALIBRATED}


def test_every_entry_is_of_a_value_that_some_profile_has() -> None:
    used = {
        (own.origin.value, *name.split("."))
        for profile in PROFILES
        for name, own in load_profile(profile).values.items()
    }
    entries = ranges._entries()
    assert {(o, t, n) for o, tables in entries.items() for t, names in tables.items() for n in names} <= used


@pytest.mark.parametrize(
    ("entry", "number", "ends"),
    [
        ({"times": [0.5, 2], "why": "x"}, 3, (2, 6)),
        ({"by": [-1, 2], "why": "x"}, 3, (2, 5)),
        ({"by": [-1, 2], "why": "x"}, 0, (0, 2)),
        ({"by": [-1, 20], "why": "x"}, 3, (2, 6)),
        ({"fixed": "x"}, 3, (3, 3)),
    ],
)
def test_a_range_stays_within_the_limits_of_its_key(
    monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], number: float, ends: tuple[int, int]
) -> None:
    given(monkeypatch, entry)
    known = range_of(KEY, value(number))
    assert known is not None and (known.low, known.high, known.why) == (*ends, "x")


def test_a_period_stays_even(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, {"times": [0.5, 2], "why": "x"}, "clock", "nic_ps")
    known = range_of(CLOCK, value(15_002))
    assert known is not None and all(known.at(share / 7, CLOCK) % 2 == 0 for share in range(8))


def test_a_published_value_has_no_range() -> None:
    assert range_of(KEY, value(3, Origin.PAPER)) is None and range_of(KEY, value(3, Origin.FACT)) is None


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (
            {"times": [0.5, 2]},
            "range incomplete: pci.start_delay has times; write times or by with two bounds, and why",
        ),
        ({"times": [2, 3], "why": "x"}, "range incomplete: pci.start_delay has times, why"),
        ({"by": [1, 2], "why": ""}, "range incomplete: pci.start_delay has by, why"),
    ],
)
def test_an_incomplete_range_is_rejected(monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], text: str) -> None:
    given(monkeypatch, entry)
    with pytest.raises(ConfigError) as error:
        range_of(KEY, value(3))
    assert text in str(error.value)


def test_an_uncertain_value_without_a_range_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, {"fixed": "x"}, name="devsel")
    with pytest.raises(ConfigError) as error:
        range_of(KEY, value(3))
    said = "pci.start_delay is assumed, but has no uncertainty range; add start_delay to [assumed.pci]"
    assert f"range missing: {said}" in str(error.value)
