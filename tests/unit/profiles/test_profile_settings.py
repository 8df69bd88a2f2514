"""Settings of the user (`SET="key=value ..."`) on a hardware profile.

Strategy: a setting of each type is applied and read back. Each mistake is made once, and the whole message is compared.
The profile itself must not change. Keys of the study are accepted.
"""

from __future__ import annotations

import re

import pytest

from pymodels.errors import ConfigError
from pymodels.nics.common.lanai import RATE_MOST, rtc_rate
from pymodels.profiles import Origin, Profile, load_profile, parse_settings, profile_names
from pymodels.settings import Setting


@pytest.fixture(name="profile")
def fixture_profile() -> Profile:
    return load_profile("lanai9")


def test_settings_are_typed_by_the_schema(profile: Profile) -> None:
    settings = parse_settings("clock.nic_ps=8000 nres.truncate=true cable.metres=1.5 sram.bytes=0x100000 file=/a=b")
    changed = profile.override(settings, also_known=["file"])
    assert changed.integer("clock.nic_ps") == 8000
    assert changed.flag("nres.truncate") is True
    assert changed.number("cable.metres") == 1.5
    assert changed.integer("sram.bytes") == 1 << 20
    assert changed.values["clock.nic_ps"].origin is Origin.ASSUMED
    assert changed.values["clock.nic_ps"].source == "SET of this run"
    assert profile.integer("clock.nic_ps") == 7500
    assert settings["file"] == "/a=b"


@pytest.mark.parametrize("name", profile_names())
def test_every_valid_value_fits_its_setting(name: str) -> None:
    keys = load_profile(name).keys
    known = {setting.name: keys[setting.source].high for setting in Setting if setting.source in keys}
    assert len(known) > 10
    assert [name for name, most in known.items() if most >= 1 << Setting[name].bits] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "clock.nik_ps=1",
            "unknown key 'clock.nik_ps': profile 'lanai9+p3-450' has no such value; did you mean 'clock.nic_ps'?",
        ),
        ("fiel=x", "unknown key 'fiel': profile 'lanai9+p3-450' has no such value; did you mean 'file'?"),
        ("clock.nic_ps=fast", "wrong type: clock.nic_ps is 'fast'; give a whole number (ps)"),
        ("clock.nic_ps=7.5", "wrong type: clock.nic_ps is '7.5'; give a whole number (ps)"),
        ("cable.metres=far", "wrong type: cable.metres is 'far'; give a number (m)"),
        ("nres.truncate=maybe", "wrong type: nres.truncate is 'maybe'; give true or false"),
        ("clock.nic_ps=2", "value out of range: clock.nic_ps is 2; give 1000 to 100000 ps"),
        ("cable.metres=nan", "wrong type: cable.metres is 'nan'; give a number (m)"),
        (
            "link.stop_mark=90",
            "values disagree: link.stop_mark is 90, link.slack is 80; link.stop_mark must not exceed link.slack",
        ),
        ("core.fetch_words=6", "values disagree: core.fetch_words is 6; give 2, 4 or 8"),
        (
            "processor.load_clocks=0",
            "values disagree: processor.load_clocks is 0; give 1 to 4: a LANai's next instruction is too early",
        ),
        ("clock.nic_ps", "not a setting: 'clock.nic_ps'; write key=value"),
        ("=5", "not a setting: '=5'; write key=value"),
        ("a=1 a=2", "a given twice: '1' and '2'; keep one"),
        ("file='a b", 'quotation without end: "file=\'a b"; close it, or write \\ before it'),
        ("file=a b", "not a setting: 'b'; write key=value"),
    ],
)
def test_mistake_in_a_setting_is_named(profile: Profile, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        profile.override(parse_settings(text), also_known=["file"])
    assert str(error.value) == f"SET: {message}"
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('file="two words.bin"', "two words.bin"),
        ("file='two words.bin'", "two words.bin"),
        ("'file=two words.bin'", "two words.bin"),
        (r"file=two\ words.bin", "two words.bin"),
        ("file=it\\'s", "it's"),
        ("file='a=b \"c\"'", 'a=b "c"'),
        ("  file=plain \n", "plain"),
    ],
)
def test_quotes_hold_a_value_with_spaces_together(text: str, name: str) -> None:
    assert parse_settings(text) == {"file": name}
    assert parse_settings(f"size=4 {text} seed=1") == {"size": "4", "file": name, "seed": "1"}


def test_value_of_another_kind_of_nic_is_unknown(profile: Profile) -> None:
    with pytest.raises(ConfigError) as error:
        profile.override({"packet.payload": "64"})
    where = r"profile 'lanai9\+p3-450' has no such value"
    text = rf"SET: unknown key 'packet\.payload': {where}; did you mean 'host\.packet_ns'\?"
    assert re.fullmatch(text, str(error.value))


@pytest.mark.parametrize("tick_ps", [1000, 500_000, 10**9])
def test_the_rtc_rate_of_any_nic_clock_fits_the_rtl(tick_ps: int) -> None:
    for nic_ps in (1000, 7500, 15_000, 26_666, 29_998, 30_000, 100_000):
        rate = rtc_rate(nic_ps, tick_ps)
        assert 0 < rate.numerator <= RATE_MOST and 0 < rate.denominator <= RATE_MOST
        assert float(rate) == pytest.approx(max(nic_ps / tick_ps, 1 / RATE_MOST), rel=1e-3)
        if tick_ps == 500_000:
            assert float(rate) == pytest.approx(nic_ps / tick_ps, rel=1e-6)
