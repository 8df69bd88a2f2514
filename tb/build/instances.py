"""A host and a switch as generated Verilog instantiates them, and the clocks that Verilator's main loop drives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from pymodels.hardware.discover import nic_kind
from tb.build.numbers import FABRIC, FAR, LINK, NIC, PCI, Further

NOTHING = Further()
"""No further cards."""
ENGINES, HALVES = 6, 2
"""Gated clocks of a NIC: of the NIC clock, of the link clock (hdl/nic/common/myri_nic_engines_pkg.sv)."""
ENGINE_SRAM = 4
"""The engine that has the processor, which takes commands of software, with it."""
HALF_RX = 1
"""Of its halves the one that receives, and with it the cable."""
SIDES = 2
"""Sides of an agent on the PCI bus, likewise (hdl/host/myri_pci_pkg.sv)."""


def word(name: str) -> str:
    """A component's name as Verilog takes it: full stops and hyphens become their codes (`a-1`: `a_x2d_1`)."""
    return re.sub(r"\W", lambda found: f"_x{ord(found[0]):02x}_", name)


WANTS = 32
"""Bits of the word in which a clock and its gated clocks say what they need (verilator_clocks.hpp)."""


def clock_pins(clocks: int) -> list[str]:
    """Ports of a module whose clocks the main loop drives, three a clock."""
    pins = ("input logic clk_{0}", "input logic refresh_{0}", f"output logic [{WANTS - 1}:0] wants_{{0}}")
    return [pin.format(i) for i in range(clocks) for pin in pins]


def clock_counters(clocks: int) -> str:
    """The edge index of each of these clocks, `cycle_<i>`."""
    return "".join(
        f"  logic [47:0] cycle_{i};\n"
        f"  sim_cycle #(.CLOCK({i})) count_{i} (.clk(clk_{i}), .refresh(refresh_{i}), .cycle(cycle_{i}));\n"
        for i in range(clocks)
    )


class GatedClocks(NamedTuple):
    """Gated clocks of a component, of one clock: each has those of its edges that are needed."""

    prefix: str
    """Pins `<prefix>gated_clk` and `<prefix>gated_needed` of the instance, one bit a gated clock."""
    clock: int
    """The clock whose edges they are."""
    number: int
    kicked: tuple[int, ...] = ()
    """Those that also need an edge that software asked for (verilator_clocks.hpp)."""

    def connected(self, first: int | None) -> str:
        """The connection of both pins: to the component's pins from `gated_clk_<first>` on; None: to every edge."""
        if first is None:
            return f".{self.prefix}gated_clk({{{self.number}{{clk_{self.clock}}}}}), .{self.prefix}gated_needed()"
        clocks = ", ".join(f"gated_clk_{first + i}" for i in reversed(range(self.number)))
        return f".{self.prefix}gated_clk({{{clocks}}}), .{self.prefix}gated_needed({self.prefix}gated_needed)"


def gated_pins(gated: Sequence[GatedClocks]) -> list[str]:
    """Ports of a module whose gated clocks the main loop drives."""
    return [f"input logic gated_clk_{i}" for i in range(sum(group.number for group in gated))]


def clock_wants(clocks: int, gated: Sequence[GatedClocks]) -> str:
    """The word of each of these clocks, `wants_<i>`: its own need on top, those of its gated clocks from bit 0 on, in
    the order of `gated`.
    """
    lines = [f"  logic awake_{i};\n" for i in range(clocks)]
    lines += [f"  logic [{group.number - 1}:0] {group.prefix}gated_needed;\n" for group in gated]
    for i in range(clocks):
        own = [group for group in gated if group.clock == i]
        parts = [f"awake_{i}", f"{WANTS - 1 - sum(group.number for group in own)}'d0"]
        parts += [f"{group.prefix}gated_needed" for group in reversed(own)]
        lines.append(f"  assign wants_{i} = {{{', '.join(parts)}}};\n")
    return "".join(lines)


def clock_domains(clocks: int, gated: Sequence[GatedClocks]) -> tuple[tuple[str, ...], ...]:
    """Of each of these clocks the pins whose edges are its own: its two, and those of its gated clocks."""
    owners = [group.clock for group in gated for _ in range(group.number)]
    return tuple(
        (f"clk_{i}", f"refresh_{i}", *(f"gated_clk_{k}" for k, owner in enumerate(owners) if owner == i))
        for i in range(clocks)
    )


def gated_index(gated: Sequence[GatedClocks], prefix: str, which: int) -> int:
    """The place of one of the gated clocks of this prefix among those of its clock."""
    place = [group.prefix for group in gated].index(prefix)
    return sum(group.number for group in gated[:place] if group.clock == gated[place].clock) + which


def _connections(groups: Sequence[GatedClocks], gated: bool) -> list[str]:
    firsts = accumulate((group.number for group in groups[:-1]), initial=0)
    return [group.connected(first if gated else None) for group, first in zip(groups, firsts, strict=True)]


def node_gated(kind: str, first_clock: int) -> list[GatedClocks]:
    """The gated clocks of a node.

    Of its NIC: settings, which need edges in reset only, engines, and halves of the link side. Of its PCI bus: sides of
    the host bridge and of the NIC's card.
    """
    nic = first_clock + NIC
    bus = nic if nic_kind(kind).one_clock else first_clock + PCI
    return [
        GatedClocks("setup_", nic, 1),
        GatedClocks("nic_", nic, ENGINES, (ENGINE_SRAM,)),
        GatedClocks("link_", first_clock + LINK, HALVES),
        GatedClocks("host_pci_", bus, SIDES),
        GatedClocks("card_pci_", bus, SIDES),
    ]


def switch_gated(clock: int, ports: int) -> list[GatedClocks]:
    """The gated clocks of a switch: of its settings and of its ports (sim_switch.sv)."""
    return [GatedClocks("setup_", clock, 1), GatedClocks("", clock, ports)]


def card_file(kind: str, core: bool) -> dict[str, str]:
    """The generated file, by its name, that says which NIC's card a node has. `core`: it can execute machine code."""
    text = f"// Generated: the NIC's card of a node.\n`define SIM_NIC_CARD {nic_kind(kind).hdl_card}\n"
    text += f"`define SIM_NIC_CORE {int(core)}\n"
    return {"sim_nic_card.svh": text}


def node_instance(
    name: str,
    kind: str,
    node: int,
    first_clock: int,
    wires: Mapping[str, str],
    further: Further = NOTHING,
    gated: bool = False,
) -> str:
    """Node number `node` with its clocks from `first_clock` on; `wires` by pin: in, in_hold, tx, tx_hold.

    `gated`: its gated clocks have pins, and its cable is given an edge when it changes; otherwise they have every edge,
    and it asks for its own.
    `further`: what it has beside its NIC. Where NIC and bus have one clock, the NIC's drives the bus too (readings A8),
    and the PCI clock never wakes.
    """
    clocks = {domain: first_clock + number for domain, number in (("nic", NIC), ("link", LINK), ("pci", PCI))}
    if further.fpga:
        clocks["fabric"] = first_clock + FABRIC
    if further.bridge:
        clocks["far"] = first_clock + FAR
    nic = nic_kind(kind)
    drives = {**clocks, "pci": clocks["nic"]} if nic.one_clock else clocks
    parameters = [f".ONE_CLOCK({int(nic.one_clock)})"]
    parameters += [f".NODE({node})", f".CABLE({node})", f".CARRIED({int(gated)})"]
    parameters += [f".CLOCK_{domain.upper()}({clock})" for domain, clock in drives.items()]
    parameters += [f".{card.upper()}({int(there)})" for card, there in further._asdict().items()]
    pins = [f".{domain}_clk(clk_{i}), .{domain}_cycle(cycle_{i})" for domain, i in drives.items()]
    pins += [f".{domain}_awake(awake_{i})" for domain, i in clocks.items()]
    pins.append(f".nic_refresh(refresh_{clocks['nic']})")
    for absent in (domain for domain in ("fabric", "far") if domain not in clocks):
        pins.append(f".{absent}_clk(1'b0), .{absent}_cycle(48'd0), .{absent}_awake()")
    pins += _connections(node_gated(kind, first_clock), gated)
    pins += [".rst, .faults", ", ".join(f".{pin}({wire})" for pin, wire in wires.items())]
    return f"  sim_node #({', '.join(parameters)}) {name} (\n      " + ",\n      ".join(pins) + ");"


def switch_instance(
    name: str,
    nic: str,
    number: int,
    clock: int,
    first_cable: int,
    wires: Mapping[str, Sequence[str]],
    gated: bool = False,
) -> str:
    """Switch `number` with its clock, of the network that this kind of NIC is for.

    `wires` by pin (in, in_hold, tx, tx_hold), one a port from port 0 on. `gated`: as in `node_instance`.
    """
    ports = len(wires["in"])
    chosen = "".join(f".{name}({value}), " for name, value in nic_kind(nic).network.hdl_switch.items())
    parameters = f"{chosen}.SWITCH({number}), .PORTS({ports})"
    parameters += f", .CLOCK({clock}), .FIRST_CABLE({first_cable}), .CARRIED({int(gated)})"
    pins = [f".clk(clk_{clock}), .rst, .cycle(cycle_{clock}), .faults, .awake(awake_{clock})"]
    pins += _connections(switch_gated(clock, ports), gated)
    pins += [f".{pin}({{{', '.join(reversed(of_port))}}})" for pin, of_port in wires.items()]
    return f"  sim_switch #({parameters}) {name} (\n      " + ",\n      ".join(pins) + ");"
