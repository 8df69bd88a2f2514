"""Studies that run over any layer: the user selects one, with its options and a profile that fits it.

Strategy: plans are made, nothing is built. One layer of each sort: on a LANai, on a card that it drives, on other
layers.
"""

from __future__ import annotations

import pytest

from firmware.layers import with_mail
from firmware.stack import layers_below
from pymodels.errors import ConfigError, SanlabError
from pymodels.profiles import DEFAULT_PROFILE, load_profile
from tb.plan import studies
from tb.plan.fitting import fitting_profile
from tb.plan.request import Plan, plan, resolve
from tb.studies.costs import loggp
from tb.tools.paths import SIMULATORS


def planned(settings: str, profile: str = "") -> Plan:
    """Return the plan of a run over a layer."""
    info = studies.load("loggp")
    return plan(resolve("loggp", "verilator", "1", False, info.cluster or "", profile, settings, SIMULATORS), info)


def test_the_first_layer_runs_by_default() -> None:
    assert studies.load("loggp").layers == (with_mail()[0],)
    assert planned("").options["layer"] == with_mail()[0]


def test_a_selected_layer_adds_its_options_and_those_of_the_layers_below() -> None:
    options = planned("layer=mpi mpi.on=lapi lapi.timeout_us=77").options
    assert (options["mpi.on"], options["lapi.timeout_us"], "hal.routes" in options) == ("lapi", 77, True)
    assert not any(name.startswith("am.") for name in options)


@pytest.mark.parametrize(
    ("settings", "profile", "expected"),
    [
        ("layer=grmi", "", "layer is 'grmi'; did you mean 'grim'?"),
        ("layer=grim am.unrestricted=1", "", "unknown key 'am.unrestricted'"),
        ("layer=hpam", "", "use PROFILE=fifo"),
        ("layer=grim", "fifo", "PROFILE"),
    ],
)
def test_an_unsuitable_profile_is_rejected_before_a_build(settings: str, profile: str, expected: str) -> None:
    with pytest.raises(SanlabError) as error:
        planned(settings, profile)
    assert expected in str(error.value)


def test_each_layer_with_mail_is_a_variant_on_a_profile_that_fits_it() -> None:
    layers = {name.partition("-")[0] for name in loggp.VARIANTS}
    assert layers == set(with_mail())
    assert {f"mpi-{on}" for on in layers_below("mpi")} <= set(loggp.VARIANTS)
    for profile, settings in loggp.VARIANTS.values():
        planned(settings, profile)


def test_a_profile_fits_by_the_driven_card_or_the_compiled_firmware() -> None:
    assert fitting_profile("hpam", {}).kind == "fifo"
    assert fitting_profile("mpi", {"mpi": {"on": "via"}}).name == load_profile(DEFAULT_PROFILE).name


def test_a_study_of_one_layer_has_no_setting_for_the_layer() -> None:
    info = studies.load("grim_pingpong")
    assert info.chosen({"layer": "via"}) is info
    request = resolve("grim_pingpong", "verilator", "1", False, "", "", "layer=via", SIMULATORS)
    with pytest.raises(ConfigError, match="unknown key 'layer'"):
        plan(request, info)
