"""Generated Verilog of a host and a switch instance, and of the clocks that Verilator's main loop drives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from pymodels.hardware.discover import nic_kind
from tb.build.numbers import FABRIC, FAR, LINK, NIC, PCI, Further

NOTHING = Further()
"""Node without further cards."""
ENGINES, HALVES = 6, 2
"""Numbers of gated clocks of the NIC clock and of the link clock (hdl/nic/common/myri_nic_engines_pkg.sv)."""
ENGINE_SRAM = 4
"""Gated clock of the SRAM engine, which contains the processor that executes software's commands."""
HALF_RX = 1
"""Gated clock of the receive half of the link side, which includes the cable."""
SIDES = 2
"""Number of gated clocks of an agent on the PCI bus (hdl/host/myri_pci_pkg.sv)."""


def word(name: str) -> str:
    """Return a component's name as a Verilog identifier: full stops and hyphens become their codes (`a-1`:
    `a_x2d_1`).
    """
    return re.sub(r"\W", lambda found: f"_x{ord(found[0]):02x}_", name)


WANTS = 32
"""Width of the word with the needs of a clock and its gated clocks (verilator_clocks.hpp)."""


def clock_pins(clocks: int) -> list[str]:
    """Return the ports of a module whose clocks the main loop drives, three a clock."""
    pins = ("input logic clk_{0}", "input logic refresh_{0}", f"output logic [{WANTS - 1}:0] wants_{{0}}")
    return [pin.format(i) for i in range(clocks) for pin in pins]


def clock_counters(clocks: int) -> str:
    """Return the Verilog of the edge counters `cycle_<i>` of the clocks."""
    return "".join(
        f"  logic [47:0] cycle_{i};\n"
        f"  sim_cycle #(.CLOCK({i})) count_{i} (.clk(clk_{i}), .refresh(refresh_{i}), .cycle(cycle_{i}));\n"
        for i in range(clocks)
    )


class GatedClocks(NamedTuple):
    """Group of gated clocks of a component, derived from one clock; each gets the edges that it needs."""

    prefix: str
    """Prefix of the instance's pins `<prefix>gated_clk` and `<prefix>gated_needed`, one bit a gated clock."""
    clock: int
    """Number of the clock from which the group is derived."""
    number: int
    kicked: tuple[int, ...] = ()
    """Indices of the gated clocks that also need the edges that software requests (verilator_clocks.hpp)."""

    def connected(self, first: int | None) -> str:
        """Return the connection of both pins to the component's pins from `gated_clk_<first>` on; for None,
        to every edge.
        """
        if first is None:
            return f".{self.prefix}gated_clk({{{self.number}{{clk_{self.clock}}}}}), .{self.prefix}gated_needed()"
        clocks = ", ".join(f"gated_clk_{first + i}" for i in reversed(range(self.number)))
        return f".{self.prefix}gated_clk({{{clocks}}}), .{self.prefix}gated_needed({self.prefix}gated_needed)"


def gated_pins(gated: Sequence[GatedClocks]) -> list[str]:
    """Return the ports of a module whose gated clocks the main loop drives."""
    return [f"input logic gated_clk_{i}" for i in range(sum(group.number for group in gated))]


def clock_wants(clocks: int, gated: Sequence[GatedClocks]) -> str:
    """Return the Verilog of the words `wants_<i>`: the clock's need in the top bit, those of its gated clocks
    from bit 0 on.

    Gated clocks have the order of `gated`.
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
    """Return, for each clock, the pins whose edges belong to it: its two pins and those of its gated clocks."""
    owners = [group.clock for group in gated for _ in range(group.number)]
    return tuple(
        (f"clk_{i}", f"refresh_{i}", *(f"gated_clk_{k}" for k, owner in enumerate(owners) if owner == i))
        for i in range(clocks)
    )


def gated_index(gated: Sequence[GatedClocks], prefix: str, which: int) -> int:
    """Return the index of a group's gated clock among all gated clocks of the same clock."""
    place = [group.prefix for group in gated].index(prefix)
    return sum(group.number for group in gated[:place] if group.clock == gated[place].clock) + which


def _connections(groups: Sequence[GatedClocks], gated: bool) -> list[str]:
    firsts = accumulate((group.number for group in groups[:-1]), initial=0)
    return [group.connected(first if gated else None) for group, first in zip(groups, firsts, strict=True)]


def node_gated(kind: str, first_clock: int) -> list[GatedClocks]:
    """Return the gated clocks of a node.

    The NIC has settings (edges in reset only), engines, and halves of the link side. The PCI bus has the sides of the
    host bridge and of the NIC's card.
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
    """Return the gated clocks of a switch: settings and ports (sim_switch.sv)."""
    return [GatedClocks("setup_", clock, 1), GatedClocks("", clock, ports)]


def card_file(kind: str, core: bool, monitored: bool) -> dict[str, str]:
    """Return the generated file, by name, that selects the NIC card of a node.

    `core` adds a core for machine code, `monitored` a monitor of its SRAM, if the kind has one.
    """
    text = f"// Generated: the NIC's card of a node.\n`define SIM_NIC_CARD {nic_kind(kind).hdl_card}\n"
    text += f"`define SIM_NIC_CORE {int(core)}\n`define SIM_NIC_MONITOR {int(monitored)}\n"
    return {"sim_nic_card.svh": text}


def node_instance(
    name: str,
    kind: str,
    node: int,
    first_clock: int,
    wires: Mapping[str, str],
    further: Further = NOTHING,
    gated: bool = False,
    monitored: bool = False,
) -> str:
    """Return the Verilog instance of a node.

    Where NIC and bus share one clock, the NIC's clock also drives the bus (readings A8), and the PCI clock stays gated.

    Args:
        name: Name of the instance.
        kind: NIC kind.
        node: Number of the node.
        first_clock: Number of the node's first clock.
        wires: Wires by pin: in, tx.
        further: Cards in addition to the NIC.
        gated: True if the gated clocks have pins and a change on the cable causes an edge. If false, gated clocks have
            every edge, and the node requests its own edges.
        monitored: True with monitors of its PCI bus and its link.
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
    parameters += [".MONITOR(1)"] * monitored
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
    monitored: bool = False,
) -> str:
    """Return the Verilog instance of a switch for the network of a NIC kind.

    Args:
        name: Name of the instance.
        nic: NIC kind.
        number: Number of the switch.
        clock: Number of its clock.
        first_cable: Number of the cable direction into port 0.
        wires: Wires by pin (in, tx), one for each port.
        gated: As in `node_instance`.
        monitored: True with monitors of its links.
    """
    ports = len(wires["in"])
    chosen = "".join(f".{name}({value}), " for name, value in nic_kind(nic).network.hdl_switch.items())
    parameters = f"{chosen}.SWITCH({number}), .PORTS({ports})"
    parameters += f", .CLOCK({clock}), .FIRST_CABLE({first_cable}), .CARRIED({int(gated)})"
    parameters += ", .MONITOR(1)" * monitored
    pins = [f".clk(clk_{clock}), .rst, .cycle(cycle_{clock}), .faults, .awake(awake_{clock})"]
    pins += _connections(switch_gated(clock, ports), gated)
    pins += [f".{pin}({{{', '.join(reversed(of_port))}}})" for pin, of_port in wires.items()]
    return f"  sim_switch #({parameters}) {name} (\n      " + ",\n      ".join(pins) + ");"
