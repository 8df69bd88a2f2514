"""Listed settings: `make studies STUDY=x`, `sanlab run STUDY --help` and `sanlab.options` name what a run accepts.

Strategy: the list of a study is compared with what the plan of a run accepts, for every study and every message layer;
the commands and the library must then show the same list.
"""

from __future__ import annotations

import pytest

from firmware import layers
from pymodels.profiles import DEFAULT_PROFILE, load_profile
from tb import sanlab
from tb.plan import studies
from tb.plan.described import settings_of
from tb.plan.options import layer_options
from tb.plan.request import RUN_OPTIONS
from tb.run import command, studies_list

PROFILE = load_profile(DEFAULT_PROFILE)


@pytest.mark.parametrize("study", studies.names())
def test_all_settings_of_a_study_are_listed_once_with_a_meaning(study: str) -> None:
    info = studies.load(study)
    found = settings_of(info)
    assert sorted(one.name for one in found) == sorted({*info.options, *RUN_OPTIONS, *PROFILE.values})
    for one in found:
        assert one.meaning and one.type and one.group, one.name
        if not isinstance(one.default, str) and one.low is not None and one.high is not None:
            assert one.low <= one.default <= one.high, one.name


@pytest.mark.parametrize("layer", layers.names())
def test_options_of_layers_have_a_meaning_of_their_own(layer: str) -> None:
    for name, option in layer_options(layer).items():
        assert option.meaning and not option.meaning.startswith("option "), name


def test_a_setting_has_range_unit_default_and_owner() -> None:
    found = {one.name: one for one in settings_of(studies.load("grim_pingpong"))}
    wait = found["grim.timeout_us"]
    assert (wait.group, wait.type, wait.unit, wait.default) == ("layer grim", "whole number", "us", 0)
    assert wait.values == "whole number, 0 to 1,000,000 us"
    assert found["grim.buffering"].values == "sending | both"
    assert (found["fault.loss"].group, found["fault.loss"].values) == ("every study", "number, 0 to 1")
    assert found["run.trace"].values == "0 or 1"
    fall = found["switch.fall_through_ns"]
    assert (fall.group, fall.unit) == (f"profile {PROFILE.name}", "ns")
    assert fall.default == PROFILE.integer("switch.fall_through_ns")
    assert found["largest"].group == "study"


def test_a_chosen_layer_and_profile_change_the_list() -> None:
    info = studies.load("epos_compare").chosen({"layer": "via"})
    found = {one.name: one for one in settings_of(info, "sp")}
    assert "via.vis" in found and "am.receive" not in found
    assert found["layer"].group == "study"
    assert found["link.slack"].group.startswith("profile sp+")


def test_make_studies_lists_the_settings_of_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert studies_list.main(["--set=", "--profile=", "--", "grim_pingpong"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("grim_pingpong: ")
    assert "settings of every study:" in lines and any(line.startswith("  fault.loss=0.0 ") for line in lines)
    assert not any("link.slack" in line for line in lines)
    assert lines[-1].endswith("make studies STUDY=grim_pingpong PROFILE=lanai9")
    assert studies_list.main(["--profile=lanai9", "grim_pingpong"]) == 0
    assert "  link.slack=80 " in capsys.readouterr().out


def test_run_help_of_a_study_lists_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["epos_compare", "--set=layer=via", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: sanlab run") and "  via.vis=128 " in shown
    assert command.main(["--help"]) == 0
    assert "sanlab run STUDY --help" in capsys.readouterr().out


def test_help_for_an_unknown_study_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    for main in (command.main, studies_list.main):
        assert main(["grim_pingpon", *(["--help"] if main is command.main else [])]) == 2
        said = capsys.readouterr()
        assert said.out == "" and "did you mean 'grim_pingpong'?" in said.err


def test_the_library_lists_the_same_settings() -> None:
    found = sanlab.options("epos_compare", layer="via", profile="sp")
    info = studies.load("epos_compare").chosen({"layer": "via"})
    assert [*found] == [one.name for one in settings_of(info, "sp")]
    assert found["via.vis"]["values"] == "whole number, 2 to 128"
    assert "via.vis=128  VIs of a NIC" in str(found)
    assert "<td>via.vis</td><td>128</td>" in found._repr_html_()
    with pytest.raises(sanlab.RefusedError, match="unknown study 'nothing'"):
        sanlab.options("nothing")
