"""The file of published values.

Strategy: the tables of basic operations are typed here a second time, from the paper, and compared. Broken entries must
be reported with their line. Values are shown beside metrics only of their own study and profile. No study may contain a
published figure: that is a matter of review, but each metric named here must have the form of a metric. Rows whose
first value is unknown, or only recovered, are counted: their number may fall, never rise.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from pymodels.profiles import load_profile
from pymodels.published import ANY, Published, comparisons, load_discrepancies, load_families, load_published
from pymodels.published_roles import Role
from pymodels.results import Kind

# Operation: Myrinet-Linux, SP-NT (us).
TABLE_2_1 = {
    "pio_write_us_per_word": (0.16, 0.33),
    "pio_read_us_per_word": (0.49, 0.87),
    "kernel_entry_us": (1.06, 2.27),
    "dma_start_us_host_to_nic": (1.72, 1.78),
    "dma_start_us_nic_to_host": (1.47, 1.61),
}
TABLE_3_1 = {
    "pio_write_us_per_word": 0.33,
    "pio_read_us_per_word": 0.87,
    "kernel_entry_us": 2.27,
    "interrupt_us_min": 10.0,
    "interrupt_us_max": 17.0,
}

OLD_ROWS = {
    "basic_costs": 16,
    "grim_channel_scan": 11,
    "grim_injection": 1,
    "grim_policing": 3,
    "via_completion": 20,
    "firmvia_bandwidth": 2,
    "firmvia_latency": 2,
    "firmvia_packet_size": 2,
    "via_descriptors": 2,
    "via_translation": 13,
    "via_compare": 6,
    "firmvia_future": 2,
    "firmvia_pio_dma": 2,
    "lapi_latency": 1,
}
"""Rows of each study that were written before first values were kept: recovered, or not recorded."""


def of_table(number: str, profile: str) -> dict[str, float]:
    rows = [p for p in load_published() if p.source == f"paper 001, Table {number}" and p.profile == profile]
    return {p.metric: p.value for p in rows}


def test_tables_of_basic_operations() -> None:
    assert of_table("2.1", "lanai4+p2-300") == {metric: both[0] for metric, both in TABLE_2_1.items()}
    assert of_table("2.1", "sp+p3-450") == {metric: both[1] for metric, both in TABLE_2_1.items()}
    assert of_table("3.1", "sp+p3-450") == TABLE_3_1


def test_every_value_names_a_profile_that_exists_and_a_metric() -> None:
    for row in load_published():
        assert row.profile == ANY or load_profile(row.profile).name == row.profile
        assert re.fullmatch(r"[A-Za-z]\w*", row.metric) and row.source
        put_in = row.study == "basic_costs" or row.metric in (*("at1_us", "words_by_start_up", "host_pio_us"),)
        assert row.kind is not Kind.INPUT or put_in, "only costs of operations, and buffers a partner, are put in"


def test_values_are_compared_with_metrics_of_their_study_and_profile() -> None:
    rows = comparisons("basic_costs", "lanai4+p2-300", {"kernel_entry_us": 1.59, "unknown": 1.0})
    assert [(r.published, r.measured, r.ratio, r.kind) for r in rows] == [(1.06, 1.59, 1.5, Kind.INPUT)]
    assert comparisons("other_study", "lanai4+p2-300", {"kernel_entry_us": 1.59}) == ()
    assert comparisons("basic_costs", "lanai9+p3-450", {"kernel_entry_us": 1.59}) == ()


@pytest.mark.parametrize("profile", ["lanai9+p3-450", "sp+p3-450"])
def test_a_value_of_any_profile_is_quoted_on_each(profile: str) -> None:
    rows = [row for row in comparisons("vibe", profile, {"create_vi_us": 2.0}) if "creating a VI" in row.name]
    assert [(row.published, row.measured, row.kind) for row in rows] == [(93, None, Kind.QUOTED)]


def test_a_measured_value_is_shown_next_to_a_quoted_one_on_request() -> None:
    rows = comparisons("mpi_nas", "sp+ppc604-332", {"gain_percent_CG": 2.3})
    assert [(row.published, row.measured) for row in rows if row.measured is not None] == [(4.6, 2.3)]


def test_agreement_within_a_fraction() -> None:
    row = next(p for p in load_published() if p.value == 0.33)
    assert row.within == 0.02
    assert row.agrees(0.3366) and not row.agrees(0.337) and not row.agrees(0.323)


def test_agreement_between_two_bounds(tmp_path: Path) -> None:
    (row,) = entries(tmp_path, within="[0.5, 2]")
    assert [row.agrees(value) for value in (0.4, 0.5, 2, 2.1)] == [False, True, True, False]


def test_calibrated_values_that_enter_a_row_are_calibrated_on_its_profile() -> None:
    for row in load_published():
        values = load_profile(row.profile).values if row.given else {}
        fitted = [key for key, value in values.items() if "calibrated" in f"{value.origin.value} {value.source}"]
        assert [pattern for pattern in row.given if not fnmatch.filter(fitted, pattern)] == [], row.name


def test_every_ratio_of_shared_memory_names_the_calibrated_clock_and_frame_time() -> None:
    rows = [row for row in load_published() if row.study.startswith("tmk_") and row.unit == "times"]
    assert len(rows) == 22
    for row in rows:
        over_via_only = "over VIA" in row.name or "thread over timer" in row.name
        assert ("host.frame_ns" in row.given) == (not over_via_only) and "clock.nic_ps" in row.given, row.name


def test_only_measurements_condition_values_and_no_copy_of_a_row_does() -> None:
    rows = load_published()
    assert all(row.kind is not Kind.QUOTED and row.sd > 0 for row in rows if row.role is Role.TRAIN)
    assert all(row.kind is not Kind.PREDICTED or "Figure 4.10" in row.table for row in rows if row.role is Role.TRAIN)
    assert all(row.within is not None or row.kind is Kind.QUOTED for row in rows if row.role is Role.BOUND)
    assert {row.family for row in rows} <= set(load_families())
    assert {row.discrepancy for row in rows} == set(load_discrepancies())


def test_a_copy_of_a_row_names_another_row_that_is_no_copy(tmp_path: Path) -> None:
    copy = {"role": '"duplicate_of"', "duplicate_of": '"a"'}
    one, other = entries(tmp_path, {"name": '"b"', **copy})
    assert (one.role, other.role, other.duplicate_of) == (Role.TEST, Role.DUPLICATE, "a")
    with pytest.raises(ConfigError, match=r"unknown row: a: duplicate_of is 'a'; did you mean 'aa'\?"):
        entries(tmp_path, {"name": '"aa"'}, **copy)
    with pytest.raises(ConfigError, match=r":16: duplicate: c: 'b' is a duplicate itself; name the row that it repe"):
        entries(tmp_path, {"name": '"c"', "role": copy["role"], "duplicate_of": '"b"'}, {"name": '"b"', **copy})


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("share = 0.1", "share = 2", "invalid class: d; write share = 0 to 1, why = ..."),
        ('what = "a"', "", "invalid family: f; write what = ..."),
    ],
)
def test_a_class_or_a_family_without_its_keys_is_rejected(tmp_path: Path, old: str, new: str, text: str) -> None:
    entries(tmp_path)
    path = tmp_path / "published.toml"
    before, after = path.read_text(encoding="utf-8").rsplit(old, 1)
    path.write_text(f"{before}{new}{after}", encoding="utf-8")
    with pytest.raises(ConfigError, match=text.replace(".", r"\.")):
        load_published(path)


ENTRY = {
    "name": '"a"',
    "source": '"paper"',
    "value": "1.0",
    "unit": '"us"',
    "kind": '"quoted"',
    "study": '"s"',
    "metric": '"m"',
    "profile": '"p"',
    "family": '"f"',
    "table": '"Table 1"',
    "role": '"test"',
    "sd": "0.1",
    "discrepancy": '"d"',
}
MEASURED = {"kind": '"predicted"', "first": "1.0", "within": "0.1"}


TABLES = [
    *("[change.yours]", 'what = "a"', 'why = "b"'),
    *("[discrepancy.d]", "share = 0.1", 'why = "b"'),
    *("[family.f]", 'what = "a"'),
]


def entries(folder: Path, *more: dict[str, str], **changed: str) -> tuple[Published, ...]:
    path = folder / "published.toml"
    first, *others = ({**ENTRY, **changed}, *more)
    rows = [f"{key} = {value}" for key, value in first.items() if value]
    rest = [line for other in others for line in ("[[value]]", *(f"{k} = {v}" for k, v in {**ENTRY, **other}.items()))]
    path.write_text("\n".join(["# one", "[[value]]", *rows, *rest, *TABLES]) + "\n", encoding="utf-8")
    return load_published(path)


def test_quoted_value_has_no_measurement(tmp_path: Path) -> None:
    (row,) = entries(tmp_path)
    assert row.beside(5.0).measured is None
    assert row.agrees(100.0)


def test_the_first_measured_value_is_kept(tmp_path: Path) -> None:
    (row,) = entries(tmp_path, **{**MEASURED, "first": "1.5"})
    assert (row.beside(1.1).first, row.beside(1.1).measured) == (1.5, 1.1)
    (row,) = entries(tmp_path, **{**MEASURED, "first": '"not recorded: nobody did"'})
    assert (row.first, row.beside(1.1).first) == ("not recorded: nobody did", None)


def test_every_new_row_has_its_first_value() -> None:
    old = Counter(row.study for row in load_published() if row.recovered or isinstance(row.first, str))
    assert old <= Counter(OLD_ROWS)


def test_a_change_has_a_description_and_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "published.toml"
    path.write_text('[change.half]\nwhat = "a"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"published.toml:1: change incomplete: half has what; write what, why"):
        load_published(path)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"vlaue": "1"}, "unknown key 'vlaue': no published value has it; did you mean 'value'?"),
        ({"metric": ""}, "value missing: the entry has no metric; add metric = ..."),
        ({"value": '"x"'}, "wrong type: value is 'x'; write a number"),
        ({"within": "true"}, "wrong type: within is True; write a fraction of the value, or [least, greatest]"),
        ({"within": "[2, 1]"}, "wrong type: within is [2, 1]; write a fraction of the value, or [least, greatest]"),
        ({"shown": "true", "kind": '"input"'}, "wrong type: shown is True; write true, of a quoted value"),
        ({"first": "1.0"}, "first value: a quoted value is not measured; leave out first"),
        (
            {"kind": '"predicted"'},
            "first value: the entry has no first, the value of the first run before any change in view of the "
            "published value; run the study and add first = ...",
        ),
        ({**MEASURED, "first": '"soon"'}, "first value: first is 'soon'; write a number, or \"not recorded: <why>\""),
        (
            {**MEASURED, "first": '"not recorded: "'},
            "first value: first is 'not recorded: '; write a number, or \"not recorded: <why>\"",
        ),
        ({**MEASURED, "recovered": "1"}, "first value: recovered is 1; write true, of a first that is a number"),
        (
            {**MEASURED, "within": ""},
            "value missing: the entry has no within, the required agreement; add within = ..., before the study is run",
        ),
        ({**MEASURED, "changed": "1"}, "wrong type: changed is 1; write a list of names of changes"),
        ({**MEASURED, "changed": '["ours"]'}, "unknown change: 'ours'; did you mean 'yours'?"),
        ({"kind": '"predict"'}, "unknown kind: 'predict'; did you mean 'predicted'?"),
        ({"role": ""}, "value missing: the entry has no role; add role = ..."),
        ({"role": '"trian"'}, "unknown role: a: 'trian'; did you mean 'train'?"),
        ({"scored": '"gian"'}, "unknown scored: a: 'gian'; did you mean 'gain'?"),
        ({"sd": '"x"'}, "wrong type: a: sd is 'x'; write a standard deviation in the unit of the value"),
        ({"sd": "-1"}, "wrong type: a: sd is -1; write a standard deviation in the unit of the value"),
        (
            {"sd": "0"},
            "missing deviation: a: sd is 0; write the resolution of the printed digits, divided by 3.46",
        ),
        (
            {"role": '"duplicate_of"'},
            "duplicate: a: role is 'duplicate_of'; write duplicate_of = <name of a row> with the role of this name",
        ),
        (
            {"duplicate_of": '"b"'},
            "duplicate: a: role is 'test'; write duplicate_of = <name of a row> with the role of this name",
        ),
        (
            {"scored": '"overhead"'},
            'scale: a: processes is None; write their number with scored = "overhead"',
        ),
        ({"processes": "8"}, 'scale: a: processes is 8; write their number with scored = "overhead"'),
        ({"scored": '"rate"'}, 'scale: a: peak is None; write the row of the peak with scored = "rate"'),
        ({"given": '"pci"'}, "wrong type: a: given is 'pci'; write a list of keys of profiles, such as pci.*"),
        ({"discrepancy": '"e"'}, "unknown discrepancy: a: 'e'; known: d"),
        ({"family": '"g"'}, "unknown family: a: 'g'; known: f"),
    ],
)
def test_broken_entry_is_named(tmp_path: Path, changed: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as error:
        entries(tmp_path, **changed)
    assert str(error.value) == f"{tmp_path / 'published.toml'}:2: {text}"
