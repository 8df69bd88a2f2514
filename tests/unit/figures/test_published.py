"""The file of published values.

Strategy: the tables of basic operations are typed here a second time, from the paper, and compared. Broken entries must
be reported with their line. Values are shown beside metrics only of their own study and profile. No study may contain a
published figure: that is a matter of review, but each metric named here must have the form of a metric. Rows whose
first value is unknown, or only recovered, are counted: their number may fall, never rise.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from pymodels.profiles import load_profile
from pymodels.published import ANY, Published, comparisons, load_published
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


ENTRY = {
    "name": '"a"',
    "source": '"paper"',
    "value": "1.0",
    "unit": '"us"',
    "kind": '"quoted"',
    "study": '"s"',
    "metric": '"m"',
    "profile": '"p"',
}
MEASURED = {"kind": '"predicted"', "first": "1.0", "within": "0.1"}


def entries(folder: Path, **changed: str) -> tuple[Published, ...]:
    path = folder / "published.toml"
    rows = [f"{key} = {value}" for key, value in (ENTRY | changed).items() if value]
    change = ["[change.yours]", 'what = "a"', 'why = "b"']
    path.write_text("\n".join(["# one", "[[value]]", *rows, *change]) + "\n", encoding="utf-8")
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
    ],
)
def test_broken_entry_is_named(tmp_path: Path, changed: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as error:
        entries(tmp_path, **changed)
    assert str(error.value) == f"{tmp_path / 'published.toml'}:2: {text}"
