"""Hardware profiles.

Strategy: every profile is loaded and checked for required values; some values are compared with papers and fact sheet.
Files with one mistake each are read, and the whole message is compared. Settings of the user are tested with every type
and every mistake. Keys that name a port of the RTL are compared with its port names.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymodels.costs import CostError, PathTable
from pymodels.errors import ConfigError
from pymodels.profiles import (
    Origin,
    Owner,
    check_profile_name,
    every_key,
    host_names,
    load_profile,
    profile_names,
)
from pymodels.profiles.keys import keys_of
from pymodels.profiles.profile import combine
from pymodels.profiles.reader import ProfileFile, read_profile_file
from pymodels.roots import TREE

FOLDER = TREE / "pymodels" / "profiles"
LANAI9 = (FOLDER / "lanai9.toml").read_text(encoding="utf-8")
HOST = (FOLDER / "p3-450.toml").read_text(encoding="utf-8")


OF_PAPERS = ("lanai4-now+ultra-167", "lanai9-l7+p2-300", "sp+ppc604-332")
"""The systems of papers that are to come: Active Messages II, TreadMarks, LAPI."""


def with_file(folder: Path, text: str, name: str = "lanai9.toml", owner: Owner = Owner.NIC) -> ProfileFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_profile_file(path, owner)


def error_text(folder: Path, text: str, name: str = "lanai9.toml", owner: Owner = Owner.NIC) -> str:
    with pytest.raises(ConfigError) as error:
        with_file(folder, text, name, owner)
    return str(error.value).replace(f"{folder}/", "")


def line_with(text: str, start: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if row.startswith(start))


def test_every_file_of_the_folder_is_a_profile_of_a_nic_or_of_a_host() -> None:
    of_nics = {
        path.stem
        for path in FOLDER.glob("*.toml")
        if re.search(r"^kind = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(profile_names()) == of_nics > {"lanai4", "lanai9", "sp"}
    assert set(host_names()) == {path.stem for path in FOLDER.glob("*.toml")} - of_nics > {"p2-300", "p3-450"}
    assert (list(profile_names()), list(host_names())) == (sorted(profile_names()), sorted(host_names()))


@pytest.mark.parametrize("name", [*profile_names(), "lanai9+p2-300", "sp+p2-300", *OF_PAPERS])
def test_every_profile_is_complete_and_every_value_has_a_source(name: str) -> None:
    profile = load_profile(name)
    assert profile.values.keys() == keys_of(Owner.NIC, profile.kind).keys() | keys_of(Owner.HOST).keys()
    for key, value in profile.values.items():
        assert value.source and value.unit == every_key()[key].unit
        if value.origin is Origin.PAPER:
            assert re.match(r"paper 00\d, ", value.source), key
        if value.origin is Origin.FACT:
            assert value.source.startswith("fact sheet "), key


def test_profile_names_are_those_of_nic_and_host() -> None:
    assert load_profile("lanai9").name == "lanai9+p3-450"
    assert load_profile("lanai4").name == "lanai4+p2-300"
    assert load_profile("sp").name == "sp+p3-450"
    assert (load_profile("lanai9").rtl, load_profile("lanai4").rtl, load_profile("sp").rtl) == (True, True, True)


def test_figures_of_papers_and_fact_sheet() -> None:
    nine, four, sp = (load_profile(name) for name in ("lanai9", "lanai4", "sp"))
    assert [nine.integer(f"clock.{c}") for c in ("nic_ps", "link_ps", "pci_ps")] == [7500, 6250, 15000]
    assert [four.integer(f"clock.{c}") for c in ("nic_ps", "link_ps", "pci_ps")] == [30000, 6250, 30000]
    assert [sp.integer(f"clock.{c}") for c in ("nic_ps", "pci_ps")] == [10000, 30000]
    assert [p.integer("host.kernel_entry_ns") for p in (nine, four, sp)] == [2270, 1060, 2270]
    assert [nine.integer(f"link.{k}") for k in ("slack", "stop_mark", "go_mark")] == [80, 56, 40]
    assert nine.values["host.interrupt_max_ns"].origin is Origin.PAPER
    assert four.values["host.interrupt_max_ns"].origin is Origin.ASSUMED
    assert sp.integer("dma.fifo_bytes") == sp.integer("switch.central_queue") == 4096


def test_figures_of_systems_of_other_papers() -> None:
    now, seven, sp = map(load_profile, OF_PAPERS)
    assert [profile.integer("host.clock_mhz") for profile in (now, seven, sp)] == [167, 300, 332]
    assert [now.integer(key) for key in ("clock.nic_ps", "sram.bytes", "pci.max_burst")] == [26666, 1 << 18, 64]
    assert [seven.integer(key) for key in ("sram.width", "pci.width", "clock.pci_ps", "dma.chains")] == [
        64,
        32,
        30000,
        4,
    ]
    assert [load_profile(name).name for name in ("lanai4-now", "lanai9-l7")] == list(OF_PAPERS[:2])
    calibrated = {key for key, value in now.values.items() if value.origin is Origin.CALIBRATED}
    assert calibrated == {f"bridge.{key}" for key in ("read_latency", "up_subsequent", "drain_num", "drain_den")}
    calibrated = {key for key, value in seven.values.items() if value.origin is Origin.CALIBRATED}
    assert calibrated == {"clock.nic_ps", "dma.start_clocks", "host.frame_ns"}


def test_derived_delays_follow_from_the_values() -> None:
    profile = load_profile("lanai9")
    assert profile.cable_characters(None) == 4
    assert profile.cable_characters(0.0) == 1
    assert profile.cable_characters(25.0) == 26
    assert profile.fall_through_characters() == 16


def test_accessors_are_typed() -> None:
    profile = load_profile("lanai9")
    assert profile.flag("nres.truncate") is False
    assert profile.number("cable.ns_per_metre") == 6.5
    with pytest.raises(TypeError, match=r"cable\.ns_per_metre is not a whole number"):
        profile.integer("cable.ns_per_metre")
    with pytest.raises(KeyError):
        profile.integer("packet.payload")


def test_values_of_a_pair_overrule_both_files(tmp_path: Path) -> None:
    value = 'unit = "PCI clocks", origin = "calibrated", source = "a figure"'
    nic = with_file(
        tmp_path,
        f"{LANAI9}\n[with.p3-450.pci]\nwrite_initial = {{ value = 5, {value} }}\n"
        f"[with.p3-450.bridge]\nstart_delay = {{ value = 7, {value} }}\n"
        f"[with.p2-300.bridge]\nstart_delay = {{ value = 9, {value} }}\n",
    )
    profile = combine(nic, with_file(tmp_path, HOST, "p3-450.toml", Owner.HOST), "p3-450")
    assert (profile.integer("pci.write_initial"), profile.integer("bridge.start_delay")) == (5, 7)
    assert profile.values["bridge.start_delay"].origin is Origin.CALIBRATED


NIC_PS = "nic_ps = { value = 7500"
MISTAKES = {
    "unknown key": (
        LANAI9.replace("slack = {", "slacks = {"),
        line_with(LANAI9, "slack"),
        "unknown key 'link.slacks': a nic profile has no such value; did you mean 'link.slack'?",
    ),
    "unknown table": (
        LANAI9.replace("[cable]", "[cabel]"),
        line_with(LANAI9, "metres"),
        "unknown key 'cabel.metres': a nic profile has no such value; did you mean 'cable.metres'?",
    ),
    "value of a host": (
        LANAI9 + "\n[memory]\nbytes = 450\n",
        LANAI9.count("\n") + 3,
        "unknown key 'memory.bytes': a nic profile has no such value; did you mean 'sram.bytes'?",
    ),
    "value of another kind": (
        LANAI9 + "\n[packet]\npayload = 450\n",
        LANAI9.count("\n") + 3,
        None,
    ),
    "value beside the tables": (
        "slack = 80\n" + LANAI9,
        1,
        "unknown key 'slack': no profile has it; known: host, kind, rtl, title",
    ),
    "unknown kind": (
        LANAI9.replace('kind = "lanai9"', 'kind = "lanai8"'),
        line_with(LANAI9, "kind"),
        "unknown kind of NIC: 'lanai8'; did you mean 'lanai9'?",
    ),
    "title missing": (
        LANAI9.replace("title = ", "# title = "),
        0,
        "value missing: title is missing; write title = <str>",
    ),
    "rtl no flag": (
        LANAI9.replace("rtl = true", "rtl = 1.5"),
        line_with(LANAI9, "rtl"),
        "wrong type: rtl is 1.5; write rtl = <bool>",
    ),
    "bare value": (
        LANAI9.replace(NIC_PS, "nic_ps = 7500 # "),
        line_with(LANAI9, "nic_ps"),
        "clock.nic_ps incomplete: it is 7500; write { value = ..., unit = ..., origin = ..., source = ... }",
    ),
    "without origin": (
        LANAI9.replace('7500, unit = "ps", origin = "fact",', '7500, unit = "ps",'),
        line_with(LANAI9, "nic_ps"),
        "clock.nic_ps incomplete: it has value, unit, source; "
        "write { value = ..., unit = ..., origin = ..., source = ... }",
    ),
    "unknown origin": (
        LANAI9.replace('7500, unit = "ps", origin = "fact"', '7500, unit = "ps", origin = "facts"'),
        line_with(LANAI9, "nic_ps"),
        "unknown origin: clock.nic_ps has 'facts'; did you mean 'fact'?",
    ),
    "wrong unit": (
        LANAI9.replace('7500, unit = "ps"', '7500, unit = "ns"'),
        line_with(LANAI9, "nic_ps"),
        "wrong unit: clock.nic_ps is in 'ns'; write unit = 'ps'",
    ),
    "without source": (
        re.sub(r'(value = 7500.*source = ")[^"]*', r"\1 ", LANAI9),
        line_with(LANAI9, "nic_ps"),
        "source missing: clock.nic_ps names none; say where the value comes from",
    ),
    "wrong type": (
        LANAI9.replace("value = 7500", "value = 7500.5"),
        line_with(LANAI9, "nic_ps"),
        "wrong type: clock.nic_ps is 7500.5; give a whole number (ps)",
    ),
    "truth instead of number": (
        LANAI9.replace("value = 7500", "value = true"),
        line_with(LANAI9, "nic_ps"),
        "wrong type: clock.nic_ps is True; give a whole number (ps)",
    ),
    "number instead of truth": (
        LANAI9.replace("value = false", "value = 0"),
        line_with(LANAI9, "truncate"),
        "wrong type: nres.truncate is 0; give true or false",
    ),
    "out of range": (
        LANAI9.replace("value = 7500", "value = 10"),
        line_with(LANAI9, "nic_ps"),
        "value out of range: clock.nic_ps is 10; give 1000 to 100000 ps",
    ),
    "odd period": (
        LANAI9.replace("value = 7500", "value = 7501"),
        line_with(LANAI9, "nic_ps"),
        "value out of range: clock.nic_ps is 7501; a period is an even number of picoseconds",
    ),
    "mistake in a pair": (
        LANAI9 + "\n[with.p3-450.pci]\nwrite_initials = 1\n",
        LANAI9.count("\n") + 3,
        "unknown key 'pci.write_initials': a nic profile has no such value; did you mean 'pci.write_initial'?",
    ),
    "value in place of a table": (
        LANAI9 + "\n[with.p3-450]\npci = 1\n",
        LANAI9.count("\n") + 3,
        "unknown key 'pci': a value must be in a table; put it below [table]",
    ),
    "no TOML": (
        LANAI9.replace('kind = "lanai9"', "kind = lanai9"),
        line_with(LANAI9, "kind"),
        "not TOML: invalid value; correct the line",
    ),
    "cut off": (
        LANAI9[: LANAI9.index(" }\n")],
        LANAI9[: LANAI9.index(" }\n")].count("\n") + 1,
        None,
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_in_a_file_is_named(tmp_path: Path, text: str, line: int, message: str | None) -> None:
    said = error_text(tmp_path, text)
    place = f"lanai9.toml:{line}: " if line else "lanai9.toml: "
    assert said.startswith(place)
    if message is not None:
        assert said == place + message


def test_values_of_pairs_are_rejected_in_the_file_of_a_host(tmp_path: Path) -> None:
    text = HOST + "\n[with.lanai9.host]\nclock_mhz = 1\n"
    assert "unknown key 'with.lanai9'" in error_text(tmp_path, text, "p3-450.toml", Owner.HOST)


def test_missing_value_is_rejected(tmp_path: Path) -> None:
    nic = with_file(tmp_path, re.sub(r"\nslack = .*", "", LANAI9))
    with pytest.raises(ConfigError) as error:
        combine(nic, with_file(tmp_path, HOST, "p3-450.toml", Owner.HOST), "p3-450")
    text = f"{nic.path}: value missing: link.slack is in no file; add it: slack buffer of a link input"
    assert str(error.value) == text


def test_nic_with_an_unknown_host_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pymodels" / "profiles"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(LANAI9.replace('host = "p3-450"', 'host = "p3-500"'), encoding="utf-8")
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, tmp_path))
    with pytest.raises(ConfigError) as error:
        load_profile("mine")
    text = "unknown host profile: 'p3-500'; did you mean 'p3-450'?"
    assert str(error.value) == f"{folder}/mine.toml:{line_with(LANAI9, 'host')}: {text}"


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    with pytest.raises(ConfigError) as error:
        read_profile_file(path, Owner.NIC)
    text = "missing file: cannot read it (No such file or directory); create it or correct the name"
    assert str(error.value) == f"{path}: {text}"
    path.write_bytes(b"a = \xff")
    with pytest.raises(ConfigError) as error:
        read_profile_file(path, Owner.NIC)
    assert str(error.value) == f"{path}: not a text file: byte 4 is not UTF-8; name a TOML file"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lanai", "PROFILE: unknown profile: 'lanai'; did you mean 'lanai9'?"),
        (
            "p3-450",
            f"PROFILE: unknown profile: 'p3-450'; known: {', '.join(profile_names())}",
        ),
        ("lanai9+p4", "PROFILE: unknown host profile: 'p4'; did you mean 'p3-450'?"),
    ],
)
def test_unknown_profile_is_rejected(name: str, text: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_profile_name(name)
    assert str(error.value) == text


def test_a_host_with_an_unknown_processor_is_rejected_with_line_and_nearest_name(tmp_path: Path) -> None:
    text = HOST.replace('processor = "i686"', 'processor = "powerpc604"')
    said = error_text(tmp_path, text, "p3-450.toml", Owner.HOST)
    assert f"p3-450.toml:{line_with(text, 'processor')}: unknown processor of a host: " in said
    assert "no paths are compiled for 'powerpc604'; did you mean 'powerpc'?" in said


def test_layers_are_charged_the_paths_compiled_for_the_host_processor() -> None:
    of = {name: PathTable.of_host("mpi", load_profile(name).host_target) for name in ("sp", "sp+ppc604-332")}
    assert {name: table.compiled["target"] for name, table in of.items()} == {"sp": "i686", "sp+ppc604-332": "powerpc"}
    assert of["sp"].paths.keys() == of["sp+ppc604-332"].paths.keys()
    with pytest.raises(CostError, match="is not compiled for this host"):
        PathTable.of_host("tpil", load_profile("sp+ppc604-332").host_target)
