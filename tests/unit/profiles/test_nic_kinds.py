"""Isolation of NIC kinds: a kind is defined by one object and folders of its name, and no other code names it.

Strategy: the source of the repository is read, not run. Its strings, imports and HDL module names are compared with the
existing kinds. The check is tested on a small invented tree with its own kind, in which one file at a time violates the
rule. The attributes of a kind's object are checked for all kinds, and thus for every kind that is added.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.errors import SanlabError
from pymodels.hardware.compiled import kinds_of
from pymodels.hardware.discover import module_of_nic, nic_kind, nic_kinds
from pymodels.machine import Machine
from pymodels.profiles import DEFAULT_KIND, DEFAULT_PROFILE, Owner, keys_of, load_profile, profile_names
from pymodels.settings import Setting
from tb.nics.view import View
from tests.unit.profiles.nic_names import offences

ROOT = Path(__file__).parents[3]
OWN = {
    "pymodels/nics/toy/kind.py": "KIND = Toy('toy')",
    "tb/nics/toy.py": "from pymodels.nics.toy.kind import KIND",
    "hdl/nic/toy/toy_card.sv": "module toy_card;\nendmodule",
    "hdl/nic/toy/sim/sim_toy.sv": "module sim_toy;\n  toy_card card ();\nendmodule",
    "pymodels/nics/toys/kind.py": "",
}


def test_nothing_but_its_own_folders_names_a_kind() -> None:
    assert list(offences(ROOT, nic_kinds())) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("tb/a.py", "if kind == 'toy':\n    pass", "tb/a.py:1: names toy"),
        ("firmware/a.py", "\nNICS = {'toy': 3}", "firmware/a.py:2: names toy"),
        ("pymodels/a.py", "import pymodels.nics.toy.kind", "pymodels/a.py:1: names toy"),
        ("tb/a.py", "from tb.nics import toy", "tb/a.py:1: names toy"),
        ("tb/nics/toys.py", "from tb.nics.toy import NIC", "tb/nics/toys.py:1: names toy"),
        ("tb/a.py", "PLACE = 'hdl/nic/toy/toy_card.sv'", "tb/a.py:1: names toy"),
        ("hdl/sim/a.sv", "module a;\n  toy_card card ();\nendmodule", "hdl/sim/a.sv: names toy_card of toy"),
        ("hdl/nic/common/a.sv", "module a;\n  sim_toy b ();\nendmodule", "hdl/nic/common/a.sv: names sim_toy of toy"),
        ("tb/a.py", "'''toy'''\nNICS = ('toys', 'a toy', 'tb.nics.toys', 'hdl/nic/toys/a')", None),
        ("tb/a.py", "toy = other.toy", None),
        ("firmware/toy/host/a.py", "from pymodels.nics.toy.kind import KIND", None),
        ("firmware/toys/host/a.py", "from pymodels.nics.toy.kind import KIND", "firmware/toys/host/a.py:1: names toy"),
        ("firmware/mine/layer.py", "from pymodels.nics.toy.kind import KIND\nBY = 'toy'", None),
        (
            "firmware/mine/layer.py",
            'DRIVES = "toys"\nBY = "toy"',
            "firmware/mine/layer.py:2: names toy",
        ),
        ("tb/studies/a.py", "VARIANTS = {'a': ('toy', '')}", None),
        ("pymodels/profiles/a.py", "DEFAULT = 'toy'", None),
        ("hdl/sim/a.sv", "// Like toy_card.\nmodule a;\nendmodule", None),
    ],
)
def test_a_file_that_names_a_kind_is_found(tmp_path: Path, file: str, text: str, expected: str | None) -> None:
    for place, content in {**OWN, file: text}.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert offences(tmp_path, ["toy"]) == ([expected] if expected else [])


@pytest.mark.parametrize("name", nic_kinds())
def test_a_kind_is_found_by_its_name_in_every_folder(name: str) -> None:
    kind = nic_kind(name)
    assert kind.name == name
    assert len(Machine(2, nic=name).nics) == 2
    binding = module_of_nic("tb.nics.{}", name)
    assert isinstance(binding.WAVES, View)
    if kind.target is not None:
        assert binding.NIC.kind == name
        assert module_of_nic("firmware.nics.{}", name).packet_port


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_has_the_values_of_its_kind(name: str) -> None:
    profile = load_profile(name)
    assert profile.nic.settings(profile) and profile.nic.network.switch_settings(profile)
    assert (profile.nic.processor(profile) is None) == (profile.nic.target is None)
    assert keys_of(Owner.NIC, profile.kind).keys() <= profile.values.keys()


@pytest.mark.parametrize("name", nic_kinds())
def test_the_module_of_a_node_is_in_the_folder_of_its_kind_or_in_a_shared_one(name: str) -> None:
    nics = ROOT / "hdl" / "nic"
    places = [path.relative_to(nics).parts[0] for path in nics.rglob(f"{nic_kind(name).hdl_card}.sv")]
    assert places in ([name], ["common"])


def test_a_layer_runs_on_the_kinds_for_whose_processor_it_is_compiled() -> None:
    targets = {nic_kind(name).target for name in kinds_of("grim")}
    assert targets == {nic_kind(DEFAULT_KIND).target}
    assert set(kinds_of("grim")) < set(kinds_of("via"))


def test_the_driver_releases_only_a_lanai_from_reset() -> None:
    known = ("fifo", "lanai4", "lanai9", "sp")
    assert [name for name in known if nic_kind(name).boots] == ["lanai4", "lanai9"]


def test_a_crossing_of_a_lanai_is_a_synchroniser_of_two_flops_and_one_of_the_sp_adapter_a_register() -> None:
    loaded = [load_profile(name) for name in profile_names()]
    edges = {profile.kind: profile.nic.settings(profile)[Setting.CDC_LATENCY] for profile in loaded}
    assert (edges["lanai9"], edges["lanai4"], edges["sp"]) == (1, 1, 0)


def test_the_default_kind_is_that_of_the_default_profile() -> None:
    assert load_profile(DEFAULT_PROFILE).kind == DEFAULT_KIND


def test_an_unknown_kind_or_missing_part_is_rejected_by_name() -> None:
    with pytest.raises(SanlabError, match=r"unknown kind of NIC 'lanai'.*did you mean 'lanai"):
        nic_kind("lanai")
    with pytest.raises(SanlabError, match=r"NIC 'lanai': module tb\.nics\.lanai8 does not exist"):
        module_of_nic("tb.nics.{}8", "lanai")
