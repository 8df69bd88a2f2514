"""Table of run-time settings, and the packages generated from it.

Strategy: the committed packages must equal the output of the table. The table is compared with its users: the schema of
profiles (a value must fit its field), the modules (every field is read), and the keys (a setting has one key). Packing
is compared with the order of the package.
"""

from __future__ import annotations

import re

import pytest

from pymodels.profiles.keys import every_key
from pymodels.settings import BUNDLES, CARD, GENERATED, LINK, NIC, Bundle, Setting
from tb.build.build import source_files
from tb.tools.paths import ROOT

ON_ITS_OWN = {Setting.PRESENT, Setting.CABLE_DELAY}
"""Read by `sim_setting`: of a switch's ports and cables, which no module of the hardware has as a setting."""


@pytest.mark.parametrize("name", GENERATED)
def test_package_equals_the_output_of_the_table(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == GENERATED[name](), "run python -m pymodels.settings"


def test_every_setting_is_in_a_bundle() -> None:
    bundled = {setting for bundle in BUNDLES for setting in bundle.settings}
    assert bundled | ON_ITS_OWN == set(Setting)
    assert not bundled & ON_ITS_OWN


@pytest.mark.parametrize("setting", [setting for setting in Setting if setting.source])
def test_every_value_of_a_profile_fits_its_field(setting: Setting) -> None:
    key = every_key()[setting.source]
    assert key.low >= 0 and key.high < 1 << setting.bits, f"{setting.name} has {setting.bits} bits"


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_every_field_is_read_by_a_module(bundle: Bundle) -> None:
    modules = [path.read_text(encoding="utf-8") for path in source_files() if path.stem != "sim_settings_pkg"]
    users = "\n".join(text for text in modules if bundle.type in text or any(of.type in text for of in BUNDLES))
    for setting in bundle.settings:
        field = bundle.field(setting)
        assert re.search(rf"\b[a-z]\w*(\.\w+)*\.{field}\b(?! *<?=[^=])", users), f"{field} of {bundle.type}"


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_names_in_a_bundle_are_unique(bundle: Bundle) -> None:
    names = [name for name, _ in bundle.fields()]
    assert len(names) == len(set(names))


def test_first_field_is_packed_highest() -> None:
    values = {name: 0 for name, _ in LINK.fields()}
    assert LINK.packed({**values, "beat_period": 7}) == 7
    assert LINK.packed({**values, "slack": 0xA5}) >> 112 == 0xA5
    nested = {name: 0 for name, _ in NIC.fields()}
    assert NIC.packed({**nested, "sram_above": 1}) == 1
    assert NIC.packed({**nested, "slack": 1}).bit_length() == sum(bits for _, bits in NIC.fields()) - 7


def test_value_that_does_not_fit_is_rejected() -> None:
    values = {name: 0 for name, _ in CARD.fields()}
    with pytest.raises(OverflowError, match="pci_card_settings_t: devsel is 4; it has 2 bits"):
        CARD.packed({**values, "devsel": 4})
