"""Run-time settings of the RTL: keys of the doorway's table, and the bundles in which modules receive the values.

Each `Setting` belongs to one of the `BUNDLES`, packed structs that are the type of a module's input `cfg`. `python -m
pymodels.settings` writes two generated files: the types (`hdl/settings/myri_settings_pkg.sv`), and the keys with
functions that read a whole bundle (`hdl/sim/probe/sim_settings_pkg.sv`). A test compares the committed files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

OWN = 96
"""First key of the settings that a kind of NIC declares itself; all hosts of a cluster have the same kind."""
SWITCH_UNIT = 16384
"""Settings unit of switch 0. Nodes use the unit of their host CPU."""


class Setting(IntEnum):
    """Keys of the settings table of nodes and switches.

    A member has the key, the width of the value in bits, its meaning, and the profile key that supplies the value.
    Python computes values without a profile key (`tb/plan/settings.py`, or `settings` of the kind of NIC).
    """

    bits: int
    meaning: str
    source: str

    def __new__(cls, key: int, bits: int, meaning: str, source: str = "") -> Setting:
        """Create a member whose value is the key."""
        setting = int.__new__(cls, key)
        setting._value_ = key
        setting.bits, setting.meaning, setting.source = bits, meaning, source
        return setting

    # fmt: off
    # Link ports, of NICs and switches.
    SLACK = 0, 8, "characters a slack buffer may hold", "link.slack"
    STOP_MARK = 1, 8, "fill at which STOP is sent", "link.stop_mark"
    GO_MARK = 2, 8, "fill at which GO is sent", "link.go_mark"
    REFRESH = 3, 16, "period of repeated STOPs; 0 = never", "link.refresh"
    SHORT_TIMEOUT = 4, 16, "characters without STOP until GO is assumed; 0 = off", "link.short_timeout"
    LONG_TIMEOUT = 5, 32, "characters blocked until a packet is cut; 0 = off", "link.long_timeout"
    BEAT_PERIOD = 6, 32, "period of BEAT; 0 = off", "link.beat_period"
    # Switches.
    FALL_THROUGH = 8, 8, "additional edges from route byte to request"
    PRESENT = 9, 32, "cabled ports, one bit each"
    CENTRAL_CHUNKS = 10, 16, "SP: capacity of the central queue in chunks"
    # NIC.
    SRAM_ACCESSES = 16, 2, "SRAM accesses in a clock, 1 or 2"
    CDC_LATENCY = 17, 4, "additional edges of every clock crossing"
    DMA_START_CLOCKS = 18, 16, "start-up of a DMA block"
    RTC_NUMERATOR = 19, 16, "RTC ticks ..."
    RTC_DENOMINATOR = 20, 16, "... in this many clocks"
    NRES_CLOCKS = 21, 32, "clocks of the network time-out, code 0"
    NRES_TRUNCATE = 22, 1, "1 = the time-out cuts the packet; 0 = it resets the receiver"
    SRAM_ABOVE = 23, 1, "LANai 4: the card's region shows the upper half of a larger memory"
    # Cable of a node, or of switch port p at CABLE_DELAY + p: characters in flight beyond the first.
    CABLE_DELAY = 24, 8, "characters under way"
    # The PCI bus of a node, and its host bridge.
    PCI_WIDE = 40, 1, "64-bit transfers"
    PCI_M66 = 41, 1, "1 = the bus runs, or the card can run, at 66 MHz"
    BRIDGE_LATENCY_TIMER = 42, 8, "clocks a burst may take without GNT#; 0 = unlimited", "bridge.latency_timer"
    BRIDGE_START_DELAY = 43, 8, "clocks before the bridge asks for the bus", "bridge.start_delay"
    POST_DEPTH = 44, 5, "CPU transactions posted and unfinished, 1..16", "bridge.post_depth"
    WC_BYTES = 45, 7, "write-combining line: 8, 16, 32 or 64 bytes", "bridge.wc_bytes"
    READ_RETURN = 46, 8, "clocks from the data on the bus to the CPU", "bridge.read_return"
    MEM_LOG2 = 47, 6, "host memory window at 0, bytes = 2**this (12..31)"
    UP_DEVSEL = 48, 2, "towards memory: DEVSEL# speed, 1 medium, 2 slow", "bridge.up_devsel"
    UP_WRITE_INITIAL = 49, 4, "wait states of the first data phase, writes", "bridge.up_write_initial"
    UP_READ_INITIAL = 50, 4, "minimum wait states of the first data phase, reads", "bridge.up_read_initial"
    UP_SUBSEQUENT = 51, 3, "wait states of later data phases", "bridge.up_subsequent"
    UP_READ_WAIT = 52, 4, "clocks for which TRDY# waits for memory before a retry", "bridge.up_read_wait"
    UP_STALL_LIMIT = 53, 3, "clocks a phase waits for the buffer before STOP#", "bridge.up_stall_limit"
    UP_MAX_PHASES = 54, 8, "data phases before a disconnect; 0 = no limit", "bridge.up_max_phases"
    IN_BUFFER = 55, 8, "inbound write buffer, beats; 0 = all", "bridge.in_buffer"
    DRAIN_NUM = 56, 8, "drain rate of the inbound buffer, beats ...", "bridge.drain_num"
    DRAIN_DEN = 57, 8, "... per clocks", "bridge.drain_den"
    READ_LATENCY = 58, 8, "clocks from a read of memory to its first data", "bridge.read_latency"
    EXTRA_NUM = 72, 4, "CPU transactions that wait one more clock: this many ...", "bridge.extra_num"
    EXTRA_DEN = 73, 4, "... out of these (host and PCI clocks not aligned); 0 = none", "bridge.extra_den"
    # The NIC as a PCI card; further cards share settings that they do not have.
    CARD_LATENCY_TIMER = 59, 8, "clocks a burst may take without GNT#; 0 = unlimited", "pci.latency_timer"
    CARD_MAX_BURST = 60, 16, "bytes of a transaction, a multiple of 8; 0 = unlimited", "pci.max_burst"
    CARD_START_DELAY = 61, 8, "clocks from a command to the request for the bus", "pci.start_delay"
    CARD_IRDY_WAIT = 62, 3, "clocks IRDY# waits for the beat after next (0..6)", "pci.irdy_wait"
    CARD_LINE_BYTES = 63, 7, "cache line: longer reads are memory read multiple", "pci.line_bytes"
    CARD_DEVSEL = 64, 2, "DEVSEL# speed: 1 medium, 2 slow (0 counts as 1)", "pci.devsel"
    CARD_WRITE_INITIAL = 65, 4, "wait states of the first write data phase", "pci.write_initial"
    CARD_READ_INITIAL = 66, 4, "minimum wait states of the first read data phase", "pci.read_initial"
    CARD_SUBSEQUENT = 67, 3, "wait states of each later data phase", "pci.subsequent"
    CARD_READ_WAIT = 68, 4, "clocks for which TRDY# waits for read data before a retry (0..12)", "pci.read_wait"
    CARD_STALL_LIMIT = 69, 3, "clocks for which a phase waits for the backend before STOP# (0..6)", "pci.stall_limit"
    CARD_MAX_PHASES = 70, 8, "data phases before a disconnect with data; 0 = no limit", "pci.max_phases"
    CARD_DISCARD = 71, 16, "clocks until an unfetched delayed read is discarded; 0 = never", "pci.discard"
    CARD_BASE = 82, 32, "BAR0 after reset"
    CARD_ENABLED = 83, 1, "memory and master enable after reset"
    # The FPGA card.
    FPGA_WIDE = 74, 1, "64-bit card"
    FPGA_M66 = 75, 1, "1 = can run at 66 MHz"
    FPGA_START_DELAY = 76, 8, "clocks from a command to the request for the bus", "fpga.start_delay"
    FPGA_WRITE_INITIAL = 77, 4, "wait states of the first write data phase", "fpga.write_initial"
    FPGA_READ_INITIAL = 78, 4, "minimum wait states of the first read data phase", "fpga.read_initial"
    FPGA_LINGER = 79, 8, "clocks for which the bus side keeps a bank after an access", "fpga.linger"
    FPGA_PATIENCE = 80, 16, "clocks that a bus access may wait for a bank or the mailbox; 0 = no limit", "fpga.patience"
    FPGA_PAUSE = 81, 8, "clocks between two polls of a full queue of the NIC", "fpga.pause"
    FPGA_CONFIG_WAIT = 89, 8, "additional clocks of a byte of an image", "fpga.config_wait"
    # The processor of a LANai that executes machine code.
    CORE_RUN = 84, 1, "1 = the RTL core runs; 0 = the simulator's processor model replaces it"
    CORE_LOAD_DELAY = 85, 3, "longest wait of an instruction that uses a loaded register, clocks"
    CORE_FETCH_LOG2 = 86, 2, "words of the prefetch buffer, as a power of two"
    CORE_REGISTER_CLOCKS = 87, 4, "additional clocks of a special register"
    CORE_SRAM_BYTES = 88, 24, "size of the SRAM"
    # fmt: on


@dataclass(frozen=True)
class Bundle:
    """Group of settings that a module receives together: the packed struct `<name>_settings_t`."""

    name: str
    meaning: str
    prefixes: tuple[str, ...]
    """Prefixes of setting names that field names omit."""
    settings: tuple[Setting, ...] = ()
    inside: Mapping[str, Bundle] | None = None
    """Nested bundles by field name; their fields come before the settings."""

    @property
    def type(self) -> str:
        """Name of the SystemVerilog type."""
        return f"{self.name}_settings_t"

    def field(self, setting: Setting) -> str:
        """Return the name of a setting's field."""
        name = setting.name
        for prefix in self.prefixes:
            name = name.removeprefix(prefix)
        return name.lower()

    def packed(self, values: Mapping[str, int]) -> int:
        """Return the packed struct as a number.

        Args:
            values: Value of each setting, including those of nested bundles, by field name.

        Raises:
            KeyError: A field has no value.
            OverflowError: A value does not fit its field.
        """
        number = 0
        for name, bits in self.fields():
            if not 0 <= values[name] < 1 << bits:
                raise OverflowError(f"{self.type}: {name} is {values[name]}; it has {bits} bits")
            number = number << bits | values[name]
        return number

    def fields(self) -> Iterator[tuple[str, int]]:
        """Yield field name and width of every setting, nested ones included, in the order of the struct. Names are
        unique.
        """
        for bundle in (self.inside or {}).values():
            yield from bundle.fields()
        yield from ((self.field(setting), setting.bits) for setting in self.settings)


def _between(first: Setting, last: Setting) -> tuple[Setting, ...]:
    members = list(Setting)
    return tuple(members[members.index(first) : members.index(last) + 1])


LINK = Bundle("link", "a link port", (), _between(Setting.SLACK, Setting.BEAT_PERIOD))
SWITCH = Bundle("switch", "a switch", (), (Setting.FALL_THROUGH, Setting.CENTRAL_CHUNKS), {"link": LINK})
MASTER = Bundle("pci_master", "a PCI master", ("CARD_",), _between(Setting.CARD_LATENCY_TIMER, Setting.CARD_LINE_BYTES))
TARGET = Bundle("pci_target", "a PCI target", ("CARD_",), _between(Setting.CARD_DEVSEL, Setting.CARD_DISCARD))
CARD = Bundle(
    "pci_card",
    "a card on the PCI bus",
    ("CARD_", "PCI_"),
    (Setting.CARD_BASE, Setting.CARD_ENABLED, Setting.PCI_WIDE, Setting.PCI_M66),
    {"master": MASTER, "target": TARGET},
)
NIC = Bundle("nic", "a NIC", (), _between(Setting.SRAM_ACCESSES, Setting.SRAM_ABOVE), {"link": LINK, "pci": CARD})
BRIDGE = Bundle("host_bridge", "a host bridge", ("BRIDGE_", "PCI_"), _between(Setting.PCI_WIDE, Setting.EXTRA_DEN))
FPGA = Bundle(
    "fpga",
    "an FPGA card, beside those that it shares with the NIC",
    ("FPGA_",),
    (Setting.CDC_LATENCY, *_between(Setting.FPGA_WIDE, Setting.FPGA_CONFIG_WAIT)),
)
CORE = Bundle("core", "a LANai's processor", ("CORE_",), _between(Setting.CORE_RUN, Setting.CORE_SRAM_BYTES))
BUNDLES = (LINK, SWITCH, MASTER, TARGET, CARD, NIC, BRIDGE, FPGA, CORE)
"""All bundles, nested ones before those that contain them."""


def types() -> str:
    """Return the text of `hdl/settings/myri_settings_pkg.sv`."""
    lines = [
        "// Bundles of run-time settings, as modules take them. Generated by `python -m pymodels.settings`.",
        "package myri_settings_pkg;",
    ]
    for bundle in BUNDLES:
        inside = [(one.type, name, one.meaning) for name, one in (bundle.inside or {}).items()]
        plain = [(_vector(one.bits), bundle.field(one), one.meaning) for one in bundle.settings]
        lines += [f"  // Of {bundle.meaning}", "  typedef struct packed {"]
        lines += [f"    {kind} {name};  // {meaning}" for kind, name, meaning in inside + plain]
        lines.append(f"  }} {bundle.type};")
    return "\n".join([*lines, "endpackage"]) + "\n"


def keys() -> str:
    """Return the text of `hdl/sim/probe/sim_settings_pkg.sv`."""
    lines = [
        "// Keys of the run-time settings, and for each bundle a function that reads it from the doorway. For clocked",
        "// processes in reset. Generated by `python -m pymodels.settings`.",
        '`include "doorway.svh"',
        "package sim_settings_pkg;",
        "  import myri_settings_pkg::*;",
        f"  localparam int SWITCH_UNIT = {SWITCH_UNIT};",
        *(f"  localparam int SET_{setting.name} = {setting.value};" for setting in Setting),
    ]
    for bundle in BUNDLES:
        lines += [
            f"  function automatic {bundle.type} {bundle.name}_settings(int unit);",
            "    int word;",
            f"    {bundle.type} got;",
            *(f"    got.{name} = {one.name}_settings(unit);" for name, one in (bundle.inside or {}).items()),
        ]
        for setting in bundle.settings:
            part = "word[0]" if setting.bits == 1 else f"word[{setting.bits - 1}:0]"
            lines += [
                f"    word = `SAN(san_cfg) (unit, SET_{setting.name});",
                f"    got.{bundle.field(setting)} = {part};",
            ]
        lines += [f"    {bundle.name}_settings = got;", "  endfunction"]
    return "\n".join([*lines, "endpackage"]) + "\n"


def _vector(bits: int) -> str:
    return "logic" if bits == 1 else f"logic [{bits - 1}:0]"


GENERATED = {"hdl/settings/myri_settings_pkg.sv": types, "hdl/sim/probe/sim_settings_pkg.sv": keys}
"""Functions that return the text of each generated file, by path."""

if __name__ == "__main__":
    for name, text in GENERATED.items():
        (Path(__file__).parents[1] / name).write_text(text(), encoding="utf-8")
