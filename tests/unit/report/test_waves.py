"""The views of waves: the signals that they list, the names of values, the positions of the markers.

Strategy: views are written from made-up signals and the made-up ping-pong, and read back line by line; names of states
are compared with the sources of the modules. tests/system/test_waves.py compares the signals with those of a real file.
Each signal that is left out of waves must exist, so that a renamed one is still left out.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.lanai.program import Function, Inlined, Program
from pymodels.link.characters import Symbol
from tb.build.compilers import UNTRACED
from tb.build.instances import GatedClocks, clock_counters, clock_pins, gated_pins
from tb.nics.view import CHARACTER
from tb.report import waves
from tb.report.lives import lives_of
from tb.report.recorded import read_recorded
from tb.report.symbols import FILE, read_symbols, write_symbols
from tb.tools.paths import ROOT
from tests.unit.report.madeup_trace import LEGEND_OF_TWO, leave, message, trace

KNOWN = {
    "top.cluster.host_paris.host.host.cpu_valid": 1,
    "top.cluster.host_paris.host.host.cpu_addr": 32,
    "top.cluster.host_paris.card.rx": 9,
    "top.cluster.host_metz.card.nic.u_host.u_dma.state_q": 3,
    "top.cluster.switch_sw0.tr_stall": 8,
    "top.cluster.switch_sw0.gen_port[1].port.cable.rx": 9,
    "top.cluster.switch_sw0.gen_port[7].port.cable.rx": 9,
    "top.cluster.host_paris.something_else": 1,
    "top.cluster.host_paris.card.adapter.cpu_gnt": 1,  # listed under the NIC kind that has it
}


def test_signals_that_the_file_has_are_grouped_by_host_nic_port_and_switch() -> None:
    found = {group.name: [signal.path.split(".", 2)[2] for signal in group.signals] for group in groups()}
    assert found == {
        "host paris": ["host_paris.host.host.cpu_valid", "host_paris.host.host.cpu_addr"],
        "port of paris": ["host_paris.card.rx"],
        "NIC of metz": ["host_metz.card.nic.u_host.u_dma.state_q"],
        "switch sw0": ["switch_sw0.tr_stall"],
        "switch sw0 port 1 from metz": ["switch_sw0.gen_port[1].port.cable.rx"],
    }


def test_signals_of_a_nic_are_those_of_its_kind() -> None:
    found = {group.name: group.signals for group in waves.groups(replace(LEGEND_OF_TWO, nic="sp"), KNOWN)}
    assert [signal.path for signal in found["NIC of paris"]] == ["top.cluster.host_paris.card.adapter.cpu_gnt"]
    assert "NIC of metz" not in found


def test_a_component_with_its_own_model_is_found_by_name() -> None:
    own = (
        ("top.cluster.host_paris", "host_paris.node_fpga.node"),
        ("top.cluster.switch_sw0", "switch_sw0.switch_8.switch"),
    )
    inside = dict(KNOWN)
    for part, model in own:
        inside = {path.replace(part, model): bits for path, bits in inside.items()}
    found = {group.name: [signal.path for signal in group.signals] for group in waves.groups(LEGEND_OF_TWO, inside)}
    assert found["port of paris"] == ["host_paris.node_fpga.node.card.rx"]
    assert found["NIC of metz"][0].startswith("top.cluster.host_metz.")
    assert found["switch sw0 port 1 from metz"] == ["switch_sw0.switch_8.switch.gen_port[1].port.cable.rx"]


def groups() -> list[waves.Group]:
    return waves.groups(LEGEND_OF_TWO, KNOWN)


def test_characters_and_states_have_names() -> None:
    named = waves.translations()
    assert {value: name for value, name in named[CHARACTER].items() if value < 0x100} == {
        int(symbol): symbol.name for symbol in Symbol
    }
    assert named[CHARACTER][0x1A5] == "A5"
    assert named["pci_master"] == {0: "IDLE", 1: "ADDR", 2: "DATA", 3: "TURN"}
    assert (named["dma_state"][1], named["word_dma_state"][1]) == ("FETCH", "START")


def test_markers_are_at_the_stages_of_the_slowest_message_in_the_window(tmp_path: Path) -> None:
    later = {True: 900_000, False: 0}
    late = [(row[0] + later[row[0] > 12_500_000], *row[1:]) for row in message(10_000, 1, 1, 8)]
    records = trace(message(0, 0), late)
    recorded = read_recorded(leave(tmp_path, records))
    lives, legend = lives_of(recorded), recorded.legend

    def marked(begin: int, end: int | None) -> list[waves.Marker]:
        life = waves.slowest(lives, (begin, end))
        return waves.markers(life, legend) if life else []

    slowest = marked(0, None)
    assert slowest[0] == ("message 2, metz to paris, 8 B", 10_000_000)
    assert slowest[-1] == ("end of host dispatch", 13_900_000)
    assert marked(0, 9_000_000)[0] == ("message 1, paris to metz, 64 B", 0)
    assert marked(4_000_000, 9_000_000) == []
    times = [time for _, time in slowest]
    assert times == sorted(times)


TEXTS = {f"{host}.{unit}": 0 for host in ("paris", "metz") for unit in ("cpu.call", "cpu.path", "nic.sending")}


def test_the_first_group_has_the_texts_of_both_ends_and_other_hosts_have_their_own() -> None:
    found = waves.groups(LEGEND_OF_TWO, {**KNOWN, **TEXTS}, ends=("metz", "paris"))
    assert (found[0].name, [signal.path for signal in found[0].signals]) == (
        "timing",
        [f"{host}.{name}" for host in ("metz", "paris") for name in ("cpu.call", "cpu.path", "nic.sending")],
    )
    assert not [group for group in found if group.name.startswith("software")]
    found = waves.groups(LEGEND_OF_TWO, {**KNOWN, **TEXTS}, ends=("metz",))
    assert [group.name for group in found][:3] == ["timing", "software of paris", "host paris"]
    lines = list(waves.gtkwave(found, [], list(waves.translations())))
    at = lines.index("+{metz/cpu/call} metz.cpu.call")
    assert lines[at - 3 : at] == ["@800200", "-timing", "@820"]
    assert lines[lines.index("-software of paris") - 1] == "@c00200"
    assert list(waves.surfer(found, []))[1:3] == ["divider_add timing", "variable_add metz.cpu.call"]


def test_the_ends_are_those_of_the_slowest_message(tmp_path: Path) -> None:
    recorded = read_recorded(leave(tmp_path, trace(message(0, 1))))
    slowest = waves.slowest(lives_of(recorded), (0, None))
    assert waves.ends_of(slowest, recorded.legend) == ["metz", "paris"]
    assert waves.ends_of(None, recorded.legend) == ["paris", "metz"]


def test_gtkwave_gets_groups_translations_and_markers() -> None:
    lines = list(waves.gtkwave(groups(), [("sent", 5), ("end of host send", 2005)], list(waves.translations())))
    assert '[dumpfile] "waves.fst"' in lines
    assert next(line for line in lines if line.startswith("*")).split()[1:4] == ["5", "5", "2005"]
    assert lines[lines.index("[markername] Asent") + 1] == "[markername] Bend of host send"
    (at,) = (n for n, line in enumerate(lines) if line.endswith(" top.cluster.host_paris.card.rx[8:0]"))
    assert lines[at - 2 : at] == ["@2022", "^1 link_character.txt"]
    (at,) = (n for n, line in enumerate(lines) if line.endswith(" top.cluster.host_paris.host.host.cpu_valid"))
    assert lines[at - 1] == "@28"
    assert [line for line in lines if line.startswith("-host")] == ["-host paris", "-host paris"]


def test_gtkwave_shows_distinct_names_in_a_column_that_holds_them() -> None:
    names = waves.aliases(groups())
    assert len(set(names.values())) == len(names) == sum(len(group.signals) for group in groups())
    lines = list(waves.gtkwave(groups(), [], list(waves.translations())))
    shown = [line.removeprefix("+{").partition("} ") for line in lines if line.startswith("+{")]
    assert [name for name, _, _ in shown] == list(names.values())
    assert all(name.split("/")[0] in {"paris", "metz", "sw0"} for name, _, _ in shown)
    assert not [name for name, _, _ in shown if "." in name], "GTKWave would show what follows the last dot"
    widths = {name: int(width) for name, width in (line[1:].split("] ") for line in lines if "_width] " in line)}
    assert widths["sst_width"] > 0
    assert 7 * max(len(name) for name, _, _ in shown) < widths["signals_width"] <= waves.MOST_WIDTH


def test_surfer_gets_dividers_formats_and_markers_as_single_words() -> None:
    lines = list(waves.surfer(groups(), [("message 1, a to b", 5)]))
    at = lines.index("variable_add top.cluster.switch_sw0.gen_port[1].port.cable.rx")
    assert lines[at - 1 : at + 2] == [
        "divider_add switch_sw0_port_1_from_metz",
        "variable_add top.cluster.switch_sw0.gen_port[1].port.cable.rx",
        "item_set_format link_character",
    ]
    assert lines[-2:] == ["marker_set message_1,_a_to_b 5", "cursor_set 5"]


def test_views_are_written_beside_the_waves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "add_texts", lambda path, texts: 0)
    monkeypatch.setattr(waves, "signals_of", lambda path: KNOWN)
    waves.write_views(tmp_path, read_recorded(leave(tmp_path)), (0, None))
    kinds = list(waves.translations())
    mappings = tmp_path / waves.MAPPINGS
    assert {path.name for path in mappings.iterdir()} == {f"{kind}.txt" for kind in kinds}
    assert (tmp_path / "link_character.txt").read_text(encoding="utf-8").splitlines()[:2] == ["000 IDLE", "003 GO"]
    assert (mappings / "link_character.txt").read_text(encoding="utf-8").splitlines()[:3] == [
        "Name = link_character",
        "Bits = 9",
        "0x0 IDLE",
    ]
    assert (tmp_path / waves.GTKWAVE).exists()
    assert (tmp_path / waves.SURFER).exists()


def test_program_counters_have_the_names_of_their_own_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metz executes, paris does not, though its card has a core; step is inline in main."""
    functions = (Function("start", 0, 8), Function("main", 8, 0x20))
    inline = (Inlined("step", "a.c", 3, 1, ((0x10, 8),)),)
    program = Program(0, 0, bytes(0x2C), 0, 0x1000, {}, functions, (), inline)
    core = {f"top.cluster.host_{host}.card.core.gen_core.u_sleep.u_core.at_q": 32 for host in ("paris", "metz")}
    monkeypatch.setattr(waves, "add_texts", lambda path, texts: 0)
    monkeypatch.setattr(waves, "signals_of", lambda path: {**KNOWN, **core})
    write_symbols({"metz": program}, tmp_path / FILE)
    waves.write_views(tmp_path, read_recorded(leave(tmp_path)), (0, None))
    names = (tmp_path / "pc_1.txt").read_text(encoding="utf-8").splitlines()
    assert names[0] == "00000000 start" and names[4:7] == [
        "00000010 step@main+0x8",
        "00000014 step@main+0xc",
        "00000018 main+0x10",
    ]
    assert len(names) == 0x28 // 4, "words of no function have no name"
    assert (tmp_path / waves.MAPPINGS / "pc_1.txt").read_text(encoding="utf-8").splitlines()[1:3] == [
        "Bits = 32",
        "0x0 start",
    ]
    shown = (tmp_path / waves.GTKWAVE).read_text(encoding="utf-8")
    lines = shown.splitlines()
    traced = lines[lines.index(f"^{len(waves.translations()) + 1} pc_1.txt") + 1]
    assert traced.startswith("+{metz/nic/")
    assert traced.endswith("} top.cluster.host_metz.card.core.gen_core.u_sleep.u_core.at_q[31:0]")
    assert "host_paris.card.core" not in shown
    assert "item_set_format pc_1" in (tmp_path / waves.SURFER).read_text(encoding="utf-8")


def test_different_programs_have_separate_names(tmp_path: Path) -> None:
    one, other = (Program(0, 0, bytes([k] * 4), 0, 64, {}, (Function(f"f{k}", 0, 4),)) for k in (1, 2))
    write_symbols({"paris": one, "metz": other, "nancy": one}, tmp_path / FILE)
    assert read_symbols(tmp_path) == [(frozenset({"paris", "nancy"}), {0: "f1"}), (frozenset({"metz"}), {0: "f2"})]
    write_symbols({}, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_signals_excluded_from_waves_exist() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.glob("hdl/**/*.sv")}
    generated = [*clock_pins(1), clock_counters(1), *gated_pins([GatedClocks("", 0, 11)])]
    names = set(re.findall(r"\w+", " ".join([*sources.values(), *generated])))
    rules = re.findall(r'^tracing_\w+ -(file|scope) "\*(.*)"$', UNTRACED.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rules) > 50
    for kind, pattern in rules:
        if kind == "file":
            assert pattern[1:] in {*sources, "hdl/prim/*"}
        else:
            last = pattern.rpartition(".")[2]
            assert fnmatch.filter(names, last if "." in pattern else f"*{last}"), pattern
