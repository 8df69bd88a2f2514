"""Views of a run's waves: grouped and named signals, and markers at the stages of one message.

In addition to `waves.fst`, a run writes `waves.gtkw` for GTKWave and `waves.sucl` for Surfer, with translation files
for signals with named values: link characters, engine states, and program counters of NICs that execute C firmware
(`function+0x8`). Text signals of software are added to the file (`tb.report.activity`). Only signals in the file are
listed, so each NIC kind has its view. The first group is the timing of both ends of the slowest message in the window,
at whose stages the markers are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path

from pymodels.hardware.discover import module_of_nic, nic_kinds
from pymodels.link.characters import Symbol
from pymodels.results import write_atomically
from pymodels.roots import place
from tb.build.instances import word
from tb.nics.view import CHARACTER, View
from tb.report.activity import SIGNALS, activity
from tb.report.fst import add_texts
from tb.report.life import Life
from tb.report.lives import Lives, lives_of
from tb.report.recorded import Legend, Recorded
from tb.report.stages import stages_of
from tb.report.symbols import read_symbols

FILE, GTKWAVE, SURFER = "waves.fst", "waves.gtkw", "waves.sucl"
MAPPINGS = Path(".surfer") / "mappings"
"""Folder of Surfer's mapping translators, relative to its working directory."""
STATES = {"pci_master": "host/myri_pci_master", "pci_target": "host/myri_pci_target"}
"""Kinds of states with the modules that name them; NIC kinds add their own."""
HOST_SIGNALS = (
    ("host.cpu_valid", ""), ("host.cpu_write", ""), ("host.cpu_addr", ""), ("host.cpu_data", ""),
    ("host.mem_valid", ""), ("host.mem_write", ""), ("host.mem_addr", ""), ("host.mem_wdata", ""),
    ("segment.segment.u_bridge.u_master.state_q", "pci_master"),
    ("segment.segment.u_bridge.u_target.state_q", "pci_target"), ("segment.intr", ""),
)  # fmt: skip
SWITCH_SIGNALS = (("clk", ""), ("tr_head", ""), ("tr_stall", ""), ("tr_grant", ""), ("tr_tail", ""))
SP_SWITCH_SIGNALS = (("tr_queue", ""), ("gen_sp.chunks", ""))
"""Additional signals of an SP switch."""
SWITCH_PORT_SIGNALS = (("port.cable.in", CHARACTER), ("port.cable.rx", CHARACTER), ("port.out_port", ""))
OWN_MODEL = (["node"], ["switch"])
"""Name of the instance within a component's model."""
MARKERS = 26
"""Maximum number of markers in GTKWave."""


@dataclass(frozen=True)
class Signal:
    """Signal of the file, with the translation of its values; empty: none."""

    path: str
    bits: int
    """Width; 0 for a text."""
    translation: str


@dataclass(frozen=True)
class Group:
    """Group of related signals."""

    name: str
    signals: tuple[Signal, ...]


Symbols = Sequence[tuple[frozenset[str], Mapping[int, str]]]
"""Hosts and word names of each program that NICs execute."""
Marker = tuple[str, int]
"""Name, and time in ps."""


def groups(legend: Legend, known: Mapping[str, int], symbols: Symbols = (), ends: Sequence[str] = ()) -> list[Group]:
    """Return the groups of a cluster: timing; software, CPU and bus, NIC, and port of each host; switches and ports.

    Args:
        legend: Legend of the trace.
        known: Width in bits of each signal in the file.
        symbols: Symbols of the programs that NICs execute.
        ends: Hosts whose software is in the group `timing`, one after the other.
    """
    found = [Group("timing", tuple(signal for name in ends for signal in _software(name, known)))]
    view = nic_view(legend.nic)
    for name in legend.hosts:
        if name not in ends:
            found.append(Group(f"software of {name}", _software(name, known)))
        scope = _scope(f"host_{word(name)}", known)
        card = f"{scope}.card"
        host = _signals(f"{scope}.host", HOST_SIGNALS, known) + _signals(card, view.bus, known)
        found.append(Group(f"host {name}", host))
        executes = next((code(number) for number, (hosts, _) in enumerate(symbols, 1) if name in hosts), "")
        core = tuple((path, executes) for path in view.core if executes)
        found.append(Group(f"NIC of {name}", _signals(card, view.nic + core, known)))
        found.append(Group(f"port of {name}", _signals(card, view.port, known)))
    for name, ports in legend.switches:
        scope = _scope(f"switch_{word(name)}", known)
        central = _signals(scope, SP_SWITCH_SIGNALS, known) if f"{scope}.gen_sp.chunks" in known else ()
        found.append(Group(f"switch {name}", _signals(scope, SWITCH_SIGNALS, known) + central))
        for port in range(ports):
            far = legend.peers.get((name, port))
            if far is not None:
                signals = _signals(f"{scope}.gen_port[{port}]", SWITCH_PORT_SIGNALS, known)
                found.append(Group(f"switch {name} port {port} from {far[0]}", signals))
    return [group for group in found if group.signals]


def _software(host: str, known: Mapping[str, int]) -> tuple[Signal, ...]:
    """Return the text signals of a host."""
    wanted = tuple((f"{unit}.{name}", "") for unit, names in SIGNALS.items() for name in names)
    return tuple(signal for signal in _signals(word(host), wanted, known) if not signal.bits)


def nic_view(kind: str) -> View:
    """Return the wave view of a NIC kind."""
    view: View = module_of_nic("tb.nics.{}", kind).WAVES
    return view


def _scope(component: str, known: Mapping[str, int]) -> str:
    """Return the scope of a host or switch in the file: its own model (Verilator), or a part of the top (Icarus)."""
    inside = (path.split(".")[:3] for path in known if path.startswith(f"{component}."))
    return next((".".join(words) for words in inside if words[2:] in OWN_MODEL), f"top.cluster.{component}")


def _signals(scope: str, wanted: tuple[tuple[str, str], ...], known: Mapping[str, int]) -> tuple[Signal, ...]:
    paths = ((f"{scope}.{path}", translation) for path, translation in wanted)
    return tuple(Signal(path, known[path], translation) for path, translation in paths if path in known)


def code(number: int) -> str:
    """Return the translation of addresses in a program, numbered from 1."""
    return f"pc_{number}"


def translations(symbols: Symbols = ()) -> dict[str, Mapping[int, str]]:
    """Return names by value for each translation."""
    characters = {int(symbol): symbol.name for symbol in Symbol} | {0x100 + byte: f"{byte:02X}" for byte in range(256)}
    modules = dict(STATES)
    for kind in nic_kinds():
        modules |= nic_view(kind).states
    words = {code(number): names for number, (_, names) in enumerate(symbols, 1)}
    return {CHARACTER: characters, **{kind: states(module) for kind, module in modules.items()}, **words}


def states(module: str) -> dict[int, str]:
    """Return the names of the values of a module's register `state_q`, from its source."""
    text = place(f"hdl/{module}.sv").read_text(encoding="utf-8")
    kind = re.search(r"^ *(\w+_t) +state_q;", text, re.MULTILINE)
    assert kind, f"{module} has no register `state_q` of an enumeration"
    members = re.search(rf"typedef enum logic \[\d+:0\] {{([^}}]*)}} {kind[1]};", text)
    assert members, f"{module} does not declare {kind[1]}"
    return dict(enumerate(re.findall(r"^ *(\w+),?(?: *//.*)?$", members[1], re.MULTILINE)))


def slowest(lives: Lives, window: tuple[int, int | None]) -> Life | None:
    """Return the message with the longest latency among those within a window in ps, or None without a message."""
    begin, end = window
    whole = [
        life
        for life in lives.lives
        if life.arrived is not None and life.sent >= begin and (end is None or life.arrived <= end)
    ]
    return max(whole, key=lambda life: life.latency or 0, default=None)


def markers(life: Life, legend: Legend) -> list[Marker]:
    """Return the start of a message, and the ends of its stages."""
    found = [(life.name(legend), life.sent)]
    found += [(f"end of {stage.name.replace('_', ' ')}", stage.end) for stage in stages_of(life)]
    return found[:MARKERS]


def ends_of(life: Life | None, legend: Legend) -> list[str]:
    """Return the hosts at both ends of a message, or the first two hosts without a message."""
    if life is None:
        return list(legend.hosts[:2])
    return [legend.hosts[node] for node in dict.fromkeys((life.node, life.target)) if node is not None]


def write_views(folder: Path, recorded: Recorded, window: tuple[int, int | None]) -> None:
    """Add the text signals to `waves.fst`, and write the views and translation files next to it, each atomically.

    Raises ResultsError if writing fails.
    """
    lives, legend = lives_of(recorded), recorded.legend
    add_texts(folder / FILE, activity(recorded, lives))
    known = signals_of(folder / FILE)
    symbols = read_symbols(folder)
    shown = slowest(lives, window)
    marked = markers(shown, legend) if shown else []
    nodes = (shown.node, shown.node if shown.target is None else shown.target) if shown else (0, 1)
    listed = groups(
        legend, known, symbols, list(dict.fromkeys(legend.hosts[node] for node in nodes[: len(legend.hosts)]))
    )
    named = translations(symbols)
    widths = {signal.translation: signal.bits for group in listed for signal in group.signals}
    for kind, names in named.items():
        bits = widths.get(kind) or max(names).bit_length()
        digits = -(-bits // 4)
        filters = "".join(f"{value:0{digits}X} {name}\n" for value, name in names.items())
        write_atomically(folder / f"{kind}.txt", filters)
        lines = [f"Name = {kind}", f"Bits = {bits}", *(f"0x{value:X} {name}" for value, name in names.items())]
        write_atomically(folder / MAPPINGS / f"{kind}.txt", "\n".join(lines) + "\n")
    write_atomically(folder / GTKWAVE, "\n".join(gtkwave(listed, marked, list(named))) + "\n")
    write_atomically(folder / SURFER, "\n".join(surfer(listed, marked)) + "\n")


def signals_of(path: Path) -> dict[str, int]:
    """Return each signal of a waveform file with its width in bits, 0 for a text."""
    import pywellen  # a reader in Rust, the one of Surfer: only needed where there are waves

    variables = pywellen.Waveform(str(path)).all_vars()
    return {str(var.full_name): 0 if var.is_string else int(var.bitwidth or 1) for var in variables}


WINDOW = (1600, 1000)
"""Width and height of GTKWave's window in pixels; its default leaves a seventh of the width for waves."""
TREE_WIDTH, CHARACTER_WIDTH, MARGIN, MOST_WIDTH = 220, 8, 40, 520
"""Widths of GTKWave's columns in pixels: scope tree, a character of a signal name, margin, maximum."""
HEX, BINARY, TEXT, TRANSLATED, OPEN_GROUP, CLOSED_GROUP, END_GROUP = (
    0x22,
    0x28,
    0x820,
    0x2000,
    0x800200,
    0xC00200,
    0x1401200,
)


def gtkwave(listed: list[Group], marked: list[Marker], kinds: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a GTKWave save file with open groups for hosts and closed groups for the rest.

    `kinds` are the names of the translations.
    """
    yield "[*] sanlab: cd to this folder, then: gtkwave waves.fst waves.gtkw"
    yield f'[dumpfile] "{FILE}"'
    yield f'[savefile] "{GTKWAVE}"'
    first = marked[0][1] if marked else 0
    length = max(marked[-1][1] - first, 1) if marked else 1_000_000
    names = aliases(listed)
    yield "[size] {} {}".format(*WINDOW)
    yield f"[timestart] {first}"
    yield f"[sst_width] {TREE_WIDTH}"
    yield f"[signals_width] {min(CHARACTER_WIDTH * max(map(len, names.values()), default=0) + MARGIN, MOST_WIDTH)}"
    places = [time for _, time in marked] + [-1] * (MARKERS - len(marked))
    yield f"*{-math.log2(length / 5):.6f} {first} {' '.join(map(str, places))}"
    for index, (name, _) in enumerate(marked):
        yield f"[markername] {chr(ord('A') + index)}{name}"
    files = {kind: number for number, kind in enumerate(kinds, 1)}
    for group in listed:
        closed = group.name.startswith(("switch", "NIC", "software"))
        yield f"@{CLOSED_GROUP if closed else OPEN_GROUP:x}"
        yield f"-{group.name}"
        for signal in group.signals:
            form = HEX if signal.bits > 1 else BINARY if signal.bits else TEXT
            kind = form | (TRANSLATED if signal.translation else 0)
            yield f"@{kind:x}"
            if signal.translation:
                yield f"^{files[signal.translation]} {signal.translation}.txt"
            bits = f"[{signal.bits - 1}:0]" if signal.bits > 1 else ""
            yield f"+{{{names[group.name, signal.path]}}} {signal.path}{bits}"
        yield f"@{END_GROUP if closed else 0x1000200:x}"
        yield f"-{group.name}"
    yield "[pattern_trace] 1\n[pattern_trace] 0"


def aliases(listed: Sequence[Group]) -> dict[tuple[str, str], str]:
    """Return a unique short name for each signal of each group, `paris/nic/u_dma/state_q`.

    GTKWave shows only the part of a name after its last dot, so the parts are joined by slashes.
    """
    found = {}
    for group in listed:
        paths = [signal.path.split(".") for signal in group.signals]
        scopes = zip(*(path[:-1] for path in paths), strict=False)
        shared = sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, scopes))
        owner = _owner(group.name) if any(signal.bits for signal in group.signals) else []
        for path in paths:
            words = [*owner, *path[shared if owner else 0 :]]
            found[group.name, ".".join(path)] = "/".join(word for word, _ in groupby(words))
    return found


def _owner(group: str) -> list[str]:
    """Return the unit of a group: `paris`, `nic` for `NIC of paris`; `sw0`, `3` for a switch port."""
    words = group.split()
    return [words[2], words[0].lower()] if words[1] == "of" else [words[1], *words[3:4]]


def surfer(listed: list[Group], marked: list[Marker]) -> Iterator[str]:
    """Yield the lines of a Surfer command file."""
    yield "# sanlab: cd to this folder, then: surfer waves.fst --command-file waves.sucl"
    for group in listed:
        yield f"divider_add {group.name.replace(' ', '_')}"
        for signal in group.signals:
            yield f"variable_add {signal.path}"
            if signal.translation:
                yield f"item_set_format {signal.translation}"
    for name, time in marked:
        yield f"marker_set {name.replace(' ', '_')} {time}"
    if marked:
        yield f"cursor_set {marked[0][1]}"
