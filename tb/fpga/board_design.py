"""Designs of `make board`: what a bitstream holds, with its settings computed from a hardware profile."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pymodels.board.identity import Identity
from pymodels.board.map import COMPARATORS, Clock, Top
from pymodels.card.registers import FABRIC_MHZ
from pymodels.errors import nearest
from pymodels.profiles import board_profile, load_profile
from pymodels.settings import BRIDGE, CARD, CORE, FPGA, NIC, SWITCH, Bundle, Setting
from tb.build.build import Design as HdlDesign
from tb.build.build import needed_files
from tb.plan.settings import card_period, fpga_settings, node_settings, switch_settings
from tb.tools.programs import ToolError

NICS, CARDS = "myri_board_cluster", "myri_board_card"
"""Generic tops, of the designs with NICs and of that with an FPGA card."""
BUNDLES: Mapping[str, Mapping[str, Bundle]] = MappingProxyType(
    {
        NICS: {"cfg_nic": NIC, "cfg_bridge": BRIDGE, "cfg_core": CORE, "cfg_switch": SWITCH},
        CARDS: {"cfg_pci": CARD, "cfg_bridge": BRIDGE, "cfg_card": FPGA},
    }
)
"""Input of each generic top for each bundle of settings."""
OF_CARD: Mapping[Setting, Setting] = MappingProxyType(
    {
        Setting.PCI_WIDE: Setting.FPGA_WIDE,
        Setting.PCI_M66: Setting.FPGA_M66,
        Setting.CARD_START_DELAY: Setting.FPGA_START_DELAY,
        Setting.CARD_WRITE_INITIAL: Setting.FPGA_WRITE_INITIAL,
        Setting.CARD_READ_INITIAL: Setting.FPGA_READ_INITIAL,
    }
)
"""Settings of the PCI bus that an FPGA card has in place of a NIC's, with their source."""
PS_PER_S = 10**12


@dataclass(frozen=True)
class Design:
    """Content of a bitstream, apart from the board.

    Attributes:
        name: Name on the command line and of the folder.
        top: Kind of top.
        nodes: Number of nodes.
        profile: Hardware profile.
        sram_log2: log2 of the bytes of a NIC's SRAM, or of a bank of an FPGA card.
        memory_log2: log2 of the bytes of a host's memory.
        ring_log2: log2 of the records of the trace ring.
        core: True if the NICs have processors.
        cells: Kind of cells of a stand-in whose NICs and switch are netlists; empty for RTL.
    """

    name: str
    top: Top
    nodes: int
    profile: str = field(default_factory=board_profile)
    sram_log2: int = 16
    memory_log2: int = 16
    ring_log2: int = 10
    core: bool = True
    cells: str = ""

    @property
    def module(self) -> str:
        """Generic top."""
        return CARDS if self.top is Top.CARD else NICS


@dataclass(frozen=True)
class Clocking:
    """Clocks and serial line of a design on a board.

    Attributes:
        bus_hz: Frequency of the bus clock.
        slower: Factor by which NIC and link clock are slower than in the profile.
        divisor: Bus clocks of a bit on the serial line.
        timeout: Inactivity time-out of the bridge in bus clocks.
    """

    bus_hz: int
    slower: int
    divisor: int
    timeout: int


DESIGNS: Mapping[str, Design] = MappingProxyType(
    {
        one.name: one
        for one in (
            Design("loopback", Top.LOOPBACK, 1),
            Design("pair", Top.PAIR, 2, sram_log2=17, memory_log2=15),  # GRIM's firmware needs 128 KB
            Design("card", Top.CARD, 1, sram_log2=13, ring_log2=8, core=False),
        )
    }
)
"""Known designs by name."""


def find_design(name: str) -> Design:
    """Return a design by name. Raises ToolError with the known names."""
    if name not in DESIGNS:
        cause = f"the designs are {', '.join(DESIGNS)}"
        raise ToolError(f"unknown design {name!r}", cause, nearest(name, DESIGNS))
    return DESIGNS[name]


def settings(design: Design) -> dict[Setting, int]:
    """Return the value of each run-time setting of a design: the profile's, with the board's memory sizes."""
    profile = load_profile(design.profile)
    values = node_settings(profile) | switch_settings(profile)
    values |= {
        int(Setting.CORE_RUN): int(design.core),
        int(Setting.CORE_SRAM_BYTES): 1 << design.sram_log2,
        int(Setting.SRAM_ABOVE): 0,
        int(Setting.MEM_LOG2): design.memory_log2,
        int(Setting.CABLE_DELAY): profile.cable_characters(None) - 1,
    }
    if design.top is Top.CARD:
        values |= fpga_settings(profile)
        values |= {int(own): values[int(source)] for own, source in OF_CARD.items()}
    return {setting: values[setting] for setting in Setting if setting in values}


def constants(design: Design) -> dict[str, str]:
    """Return the constant of each settings input of the top as SystemVerilog text."""
    values = settings(design)
    texts = {}
    for port, bundle in BUNDLES[design.module].items():
        bits = sum(width for _, width in bundle.fields())
        texts[port] = f"{bits}'h{bundle.packed(dict(_fields(bundle, values))):X}"
    return texts if design.top is Top.CARD else {**texts, "cfg_cable_delay": f"8'd{values[Setting.CABLE_DELAY]}"}


def _fields(bundle: Bundle, values: Mapping[Setting, int]) -> list[tuple[str, int]]:
    inside = [pair for one in (bundle.inside or {}).values() for pair in _fields(one, values)]
    return inside + [(bundle.field(setting), values[setting]) for setting in bundle.settings]


def periods(design: Design, bus_hz: int) -> dict[Clock, int]:
    """Return the period of each clock in ps; NIC and link clock are those of the profile.

    In a design with an FPGA card these are the clocks of the PCI bus and of the card's FPGA.
    """
    profile = load_profile(design.profile)
    if design.top is Top.CARD:
        nic, link = card_period(profile), PS_PER_S // (FABRIC_MHZ * 10**6)
    else:
        nic, link = profile.integer("clock.nic_ps"), profile.integer("clock.link_ps")
    return {Clock.BUS: PS_PER_S // bus_hz, Clock.NIC: nic, Clock.LINK: link}


def identity(design: Design, clocking: Clocking, wrapper: str) -> Identity:
    """Return the identity of a design on a board.

    Args:
        design: The design.
        clocking: Its clocks.
        wrapper: Text of the board's top without the hash; together with the sources it gives the hash.
    """
    times = periods(design, clocking.bus_hz)
    digest = hashlib.sha256(wrapper.encode())
    for path in needed_files(HdlDesign(design.module)):
        digest.update(path.name.encode() + path.read_bytes())
    return Identity(
        top=design.top,
        nodes=design.nodes,
        nic=0 if design.top is Top.CARD else load_profile(design.profile).nic.board,
        core=design.core,
        sram_log2=design.sram_log2,
        memory_log2=design.memory_log2,
        ring_log2=design.ring_log2,
        comparators=COMPARATORS,
        hash=digest.hexdigest()[:32],
        bus_hz=clocking.bus_hz,
        nic_hz=PS_PER_S // (times[Clock.NIC] * clocking.slower),
        link_hz=PS_PER_S // (times[Clock.LINK] * clocking.slower),
        baud=clocking.bus_hz // clocking.divisor,
        timeout=clocking.timeout,
    )


def instance(design: Design, clocking: Clocking, pins: Mapping[str, str]) -> str:
    """Return the instance of the generic top in a board's top.

    Args:
        design: The design.
        clocking: Its clocks.
        pins: Expression of each port that is not a setting.
    """
    parameters = {
        "TOP": f"8'd{int(design.top)}",
        "CORE": f"1'b{int(design.core)}",
        "SRAM_LOG2": design.sram_log2,
        "MEMORY_LOG2": design.memory_log2,
        "RING_LOG2": design.ring_log2,
        "DIVISOR": clocking.divisor,
        "TIMEOUT": clocking.timeout,
    }
    given = ",\n".join(f"      .{name}({value})" for name, value in parameters.items())
    ports = ",\n".join(f"      .{name}({value})" for name, value in {**pins, **constants(design)}.items())
    return f"  {design.module} #(\n{given}\n  ) u_cluster (\n{ports}\n  );\n"
