"""Equality of the constants in the doorway's C, the simulation modules and Python.

Strategy: the enumerations of the C sources and the code parameters of the simulation modules are read as text. They are
compared with the Python constants by name. A number changed on one side only fails here before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pymodels import settings
from pymodels.card import fabric
from pymodels.errors import ConfigError
from pymodels.hardware.discover import nic_kind, nic_kinds
from pymodels.link.characters import DATA, Symbol
from pymodels.profiles import load_profile, profile_names
from pymodels.trace import CABLE_BASE, PARTS_PER_NODE, PORTS_PER_SWITCH, SWITCH_BASE, Part, TraceEvent
from tb.bind import circuits, cpu, host, lanai, watch
from tb.build.numbers import CARD_MEMORIES
from tb.lab import invariants
from tb.lab.cluster import FAULTS
from tb.lab.faults import STRIKES
from tb.monitors import samples
from tb.plan.limits import MOST_CLOCKS, MOST_HOSTS, MOST_SWITCHES, check_size
from tb.sim import doorway, exchange, turns
from tb.tools.paths import ROOT

FOLDERS = (ROOT / "hdl" / "sim", ROOT / "tb" / "sim" / "twin")
SOURCES = {path.name: path for folder in FOLDERS for path in folder.rglob("*.*")}
"""Sources of the simulation, in C and in Verilog, by name."""


def enums(*names: str) -> dict[str, int]:
    """Return every `NAME = value` of the enumerations in these C files."""
    found: dict[str, int] = {}
    for name in names:
        text = re.sub(r"//[^\n]*", "", SOURCES[name].read_text(encoding="utf-8"))
        for body in re.findall(r"enum\s*\{([^}]*)\}", text):
            for word, value, shift in re.findall(r"(\w+)\s*=\s*(\w+)(?:\s*<<\s*(\w+))?", body):
                found[word] = int(value, 0) << int(shift or "0", 0)
    return found


def test_characters_of_a_link_are_equal() -> None:
    c = enums("faults.c")
    assert c["FLAG"] == DATA
    assert {name: c[name] for name in ("GAP", "STOP", "GO")} == {
        s.name: s for s in (Symbol.GAP, Symbol.STOP, Symbol.GO)
    }


def test_ring_sizes_are_equal() -> None:
    c = enums("doorway.h")
    pairs = {
        "DW_EVENTS": exchange.EVENTS,
        "DW_COMMANDS": exchange.COMMANDS,
        "DW_UNITS": exchange.UNITS,
        "DW_TURN": exchange.TURN,
        "DW_MEMORIES": doorway.MEMORIES,
        "DW_CLOCKS": doorway.CLOCKS,
        "DW_WATCHES": doorway.WATCHES,
        "DW_STEPS": doorway.STEPS,
        "DW_LOOPS": doorway.LOOPS,
        "DW_ANSWERS": doorway.ANSWERS,
    }
    assert {name: c[name] for name in pairs} == pairs
    assert enums("turns_python.c") == {"HEARTBEAT": turns.HEARTBEAT}


def test_a_cluster_larger_than_the_tables_is_rejected() -> None:
    c = enums("doorway.h")
    assert c["DW_MEMORIES"] == 2 * CARD_MEMORIES == 4 * MOST_HOSTS
    assert f"CARD_MEMORIES = {CARD_MEMORIES};" in SOURCES["sim_node.sv"].read_text(encoding="utf-8")
    assert c["DW_CLOCKS"] == MOST_CLOCKS > 3 * MOST_HOSTS
    assert c["DW_CABLES"] >= MOST_HOSTS + 16 * MOST_SWITCHES
    assert settings.SWITCH_UNIT >= MOST_HOSTS * PARTS_PER_NODE and c["DW_UNITS"] >= settings.SWITCH_UNIT + MOST_SWITCHES
    assert MOST_HOSTS * PARTS_PER_NODE <= SWITCH_BASE <= CABLE_BASE - MOST_SWITCHES * PORTS_PER_SWITCH
    check_size(MOST_HOSTS, 0, MOST_CLOCKS - 3 * MOST_HOSTS, "big_config")
    with pytest.raises(
        ConfigError, match=f"big_config: {MOST_HOSTS + 1} hosts: the simulator's tables hold {MOST_HOSTS}"
    ):
        check_size(MOST_HOSTS + 1, 0, 1, "big_config")
    for hosts, room in ((2, 1024), (1024, 1023)):
        found = f"big_config: {room + 1} switches with {hosts} hosts: the simulator's tables hold {room}"
        with pytest.raises(ConfigError, match=found):
            check_size(hosts, 1, room + 1, "big_config")


def test_a_turn_of_a_polling_core_fits_and_is_counted_at_its_sram() -> None:
    c = enums("core.c")
    longest = re.search(r"int TURN = (\d+)", SOURCES["sim_core_sleep.sv"].read_text(encoding="utf-8"))
    assert longest is not None
    assert c["TURN"] == int(longest[1])
    assert c["SRAM_OF_CPU"] == Part.SRAM - Part.NIC_CPU
    assert [c["TRACE_FUNCTION"], c["TRACE_INSTRUCTION"]] == [TraceEvent.FUNCTION, TraceEvent.INSTRUCTION]


def test_settings_fit_their_table() -> None:
    assert max(settings.Setting) < settings.OWN
    for profile in map(load_profile, profile_names()):
        own = profile.nic.settings(profile).keys() - set(settings.Setting)
        assert own <= set(range(settings.OWN, enums("doorway.h")["DW_SETTINGS"])), profile.name
    assert len({int(s) for s in settings.Setting}) == len(list(settings.Setting))


def operations(names: Mapping[str, Any]) -> dict[str, int]:
    """Return the commands among some names, without 0; both sides must have the same."""
    return {name: number for name, number in names.items() if name.startswith("OP_") and number}


def test_processor_commands_and_events_are_equal() -> None:
    c = enums("processor.c")
    assert operations(c) == operations(vars(lanai))
    assert (c["EVENT_WORK"], c["EVENT_HIT"], c["EVENT_VALUE"]) == lanai.ENDS
    python = enums("verbs_python.c")
    assert python == {name: c[name] for name in python} and len(python) == 4
    assert [c["TRACE_WORK_START"], c["TRACE_WORK_END"]] == [TraceEvent.WORK_START, TraceEvent.WORK_END]


def test_host_commands_and_events_are_equal() -> None:
    c = {**enums("doorway.c"), **enums("host_cpu.c")}
    known = {**vars(watch), **vars(cpu), **vars(host)}
    assert operations(c) == operations(known)
    for name in ("EVENT_WATCH", "EVENT_WILD"):
        assert c[name] == known[name], name
    assert (c["EVENT_TAKEN"], c["EVENT_LOADED"]) == host.ENDS
    stored = {name: known[name] for name in ("OP_STORE", "LINE", "COMBINE")}
    assert enums("host_python.c") == stored | {name: int(TraceEvent[name]) for name in ("SPEND_START", "SPEND_END")}
    traced = {name.removeprefix("TRACE_"): code for name, code in c.items() if name.startswith("TRACE_")}
    assert traced == {name: TraceEvent[name] for name in ("SPEND_START", "SPEND_END", "PIO_WRITE", "PIO_READ")}
    interrupt = re.search(r"EVENT_INTERRUPT = (\d+)", SOURCES["sim_interrupt.sv"].read_text(encoding="utf-8"))
    assert interrupt is not None
    assert int(interrupt[1]) == {**vars(cpu), **vars(host)}["EVENT_INTERRUPT"]


def test_fault_kinds_are_equal() -> None:
    kinds = {name: value for name, value in enums("faults.c").items() if name.startswith("FAULT_")}
    assert {name.removeprefix("FAULT_").lower(): value for name, value in kinds.items()} == FAULTS


def test_faults_within_a_node_have_one_code() -> None:
    c = enums("doorway.h")
    kinds = {name.removeprefix("STRIKE_").lower(): value for name, value in c.items() if name.startswith("STRIKE_")}
    traced = kinds.pop("traced")
    assert {f"dma_{name}" if name in ("read", "write") else name for name in kinds} == {
        *(name.replace("lost_interrupt", "interrupt") for name in STRIKES)
    }
    assert sorted(kinds.values()) == sorted(STRIKES.values())
    assert traced > max(FAULTS.values())
    assert enums("doorway.c")["EVENT_INTERRUPT"] == host.EVENT_INTERRUPT


def codes(files: set[Path]) -> set[int]:
    """Codes of the invariants that modules report."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return {int(code) for code in re.findall(r"sim_invariant\s*#\([^;]*?\.CODE\((\d+)\)", text)}


def test_every_invariant_of_the_modules_has_a_name() -> None:
    modules = set((ROOT / "hdl").rglob("sim_*.sv"))
    for kind in map(nic_kind, nic_kinds()):
        own = set((ROOT / "hdl" / "nic" / kind.name).rglob("sim_*.sv"))
        assert codes(own) == kind.invariants.keys() and min(codes(own), default=settings.OWN) >= settings.OWN
        modules -= own
    assert codes(modules) == {int(kind) for kind in invariants.Broken}


def test_events_of_no_unit_have_numbers_above_all_units() -> None:
    """Check that invariants and samples do not share the number of a host or switch, also in the largest cluster."""
    numbers = enums("doorway.c")["INVARIANT_UNIT"], enums("samples.c")["SAMPLES_UNIT"]
    assert numbers == (invariants.INVARIANT_UNIT, samples.SAMPLES_UNIT)
    assert len({*numbers}) == len(numbers) and min(numbers) >= enums("doorway.h")["DW_UNITS"]
    assert enums("samples.c")["DW_SAMPLES"] == samples.SAMPLES
    assert enums("samples.c")["MONITOR_UNITS"] >= CABLE_BASE, "units of hosts and of ports are below those of cables"


def test_every_call_of_rtl_reaches_the_doorway_on_both_simulators() -> None:
    """Verilator's imports, the functions that add a component's numbers, and Icarus's system functions are the same."""
    imported = set(re.findall(r"here_(\w+) = function", SOURCES["sim_doorway_pkg.sv"].read_text(encoding="utf-8")))
    added = set(re.findall(r"^\w[\w ]* here_(\w+)\(", SOURCES["component.c"].read_text(encoding="utf-8"), re.MULTILINE))
    registered = set(
        re.findall(r"(?:FUNC32|FUNC64|TASK)\(san_(\w+)\)", SOURCES["doorway_vpi.c"].read_text(encoding="utf-8"))
    )
    assert imported == added == registered
    assert len(imported) > 10


def test_orders_and_events_of_circuits_in_python_are_equal() -> None:
    c = enums("circuit.c")
    events = {"EVENT_LOADED": circuits.LOADED, "EVENT_UNLOADED": circuits.UNLOADED, "EVENT_COMPLETE": circuits.COMPLETE}
    assert {name: c[name] for name in events} == events
    assert c["CIRCUIT_PLACES"] == fabric.PLACES
    text = SOURCES["sim_circuit.sv"].read_text(encoding="utf-8")
    orders = {name: int(value) for name, value in re.findall(r"OP_(\w+) = 4'd(\d+)", text)}
    names = ("TAKE", "COUNT", "GIVE", "READ", "WRITE")
    assert orders == {name: getattr(circuits, f"OP_{name}") for name in names}
