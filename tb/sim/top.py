"""The top-level Verilog of a cluster, generated from its topology: nodes, switches, cables, clocks.

Every component has its own clock, so that it can sleep alone: node n has the clocks 3n (NIC), 3n+1 (link) and 3n+2
(PCI), switch s the clock 3N+s. The module `top` stands around `cluster`: on Verilator the clocks are its inputs, which
the main loop drives; on Icarus it makes them. Nothing but the topology is in here; everything else is a run-time
setting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pymodels.topology import End, Topology
from tb.sim.build import Design

NIC, LINK, PCI = 0, 1, 2


@dataclass(frozen=True)
class Numbers:
    """Numbers of clocks and cable directions of a topology."""

    topology: Topology

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return len(self.topology.hosts)

    def clock(self, node: int, domain: int) -> int:
        """Clock of a node's domain: NIC, LINK or PCI."""
        return 3 * node + domain

    def switch_clock(self, switch: int) -> int:
        """Clock of a switch."""
        return 3 * self.nodes + switch

    @property
    def clocks(self) -> int:
        """Number of clocks."""
        return 3 * self.nodes + len(self.topology.switches)

    def first_cable(self, switch: int) -> int:
        """Number of the cable direction into port 0 of a switch; its other ports follow. A node's number is its own."""
        return self.nodes + sum(s.ports for s in self.topology.switches[:switch])

    def cable_into(self, end: End) -> int:
        """Number of the cable direction that arrives at a port."""
        if self.topology.is_host(end.node):
            return self.topology.hosts.index(end.node)
        names = [s.name for s in self.topology.switches]
        return self.first_cable(names.index(end.node)) + end.port

    def clock_of(self, end: End) -> int:
        """The clock that samples what arrives at a port."""
        if self.topology.is_host(end.node):
            return self.clock(self.topology.hosts.index(end.node), LINK)
        return self.switch_clock([s.name for s in self.topology.switches].index(end.node))


def design(topology: Topology) -> Design:
    """The design of a cluster, for both simulators."""
    numbers = Numbers(topology)
    generated = {
        "cluster.sv": _cluster(numbers),
        "top.sv": _top(numbers.clocks, _instance(numbers.clocks)),
        "clocks.h": _clocks_h(numbers.clocks),
    }
    return Design("top", generated=generated, clocked=True)


def switch_design(ports: int) -> Design:
    """The design of a lone crossbar with traffic at every port, one clock."""
    body = f"  sim_switch_study #(.PORTS({ports})) study (.clk(clk_0), .rst, .awake(awake_0));\n"
    return Design("top", generated={"top.sv": _top(1, body), "clocks.h": _clocks_h(1)}, clocked=True)


def _ports(clocks: int) -> list[str]:
    lines = ["input logic rst", "input logic faults"]
    for i in range(clocks):
        lines += [f"input logic clk_{i}", f"input logic [47:0] cycle_{i}", f"output logic awake_{i}"]
    return lines


def _word(name: str) -> str:
    """A component's name as Verilog takes it: full stops and hyphens become their codes (`a-1`: `a_x2d_1`)."""
    return re.sub(r"\W", lambda found: f"_x{ord(found[0]):02x}_", name)


def _wires(end: End) -> str:
    return f"{_word(end.node)}_{end.port}"


def _cluster(numbers: Numbers) -> str:
    topology = numbers.topology
    ends = [End(node, port) for node, ports in topology.ports.items() for port in range(ports)]
    body = [f"  logic [8:0] tx_{_wires(end)};\n  logic hold_{_wires(end)};" for end in ends]
    body += [_node(numbers, n) for n in range(numbers.nodes)]
    body += [_switch(numbers, s) for s in range(len(topology.switches))]
    header = "// A cluster, generated from its topology.\nmodule cluster (\n    "
    return header + ",\n    ".join(_ports(numbers.clocks)) + "\n);\n" + "\n".join(body) + "\nendmodule\n"


def _node(numbers: Numbers, node: int) -> str:
    host = numbers.topology.hosts[node]
    own, far = _wires(End(host, 0)), _wires(numbers.topology.peers[End(host, 0)])
    clocks = {name: numbers.clock(node, domain) for name, domain in (("nic", NIC), ("link", LINK), ("pci", PCI))}
    parameters = [f".CLOCK_{name.upper()}({clock})" for name, clock in clocks.items()]
    pins = [f".{name}_clk(clk_{i}), .{name}_cycle(cycle_{i}), .{name}_awake(awake_{i})" for name, i in clocks.items()]
    pins += [f".rst, .faults, .in(tx_{far}), .in_hold(hold_{far})", f".tx(tx_{own}), .tx_hold(hold_{own})"]
    parameters = [f".NODE({node})", *parameters, f".CABLE({node})"]
    return f"  sim_node #({', '.join(parameters)}) host_{_word(host)} (\n      " + ",\n      ".join(pins) + ");"


def _switch(numbers: Numbers, number: int) -> str:
    switch, peers = numbers.topology.switches[number], numbers.topology.peers
    ends = [End(switch.name, port) for port in reversed(range(switch.ports))]
    clock = numbers.switch_clock(number)
    bundles = {
        "in": [f"tx_{_wires(peers[end])}" if end in peers else "9'h000" for end in ends],
        "in_hold": [f"hold_{_wires(peers[end])}" if end in peers else "1'b0" for end in ends],
        "tx": [f"tx_{_wires(end)}" for end in ends],
        "tx_hold": [f"hold_{_wires(end)}" for end in ends],
    }
    first = numbers.first_cable(number)
    parameters = f".SWITCH({number}), .PORTS({switch.ports}), .CLOCK({clock}), .FIRST_CABLE({first})"
    pins = [f".clk(clk_{clock}), .rst, .cycle(cycle_{clock}), .faults, .awake(awake_{clock})"]
    pins += [f".{name}({{{', '.join(wires)}}})" for name, wires in bundles.items()]
    return f"  sim_switch #({parameters}) switch_{_word(switch.name)} (\n      " + ",\n      ".join(pins) + ");"


def _instance(clocks: int) -> str:
    connect = "".join(f", .clk_{i}, .cycle_{i}, .awake_{i}" for i in range(clocks))
    return f"  cluster cluster (.rst, .faults{connect});\n"


def _top(clocks: int, body: str) -> str:
    """`top` around a body: on Verilator the clocks are inputs, on Icarus they are made here."""
    each = range(clocks)
    inputs = "".join(
        f",\n    input logic clk_{i},\n    input logic refresh_{i},\n    output logic awake_{i}" for i in each
    )
    counted = "".join(
        f"  logic [47:0] cycle_{i};\n"
        f"  sim_cycle #(.CLOCK({i})) count_{i} (.clk(clk_{i}), .refresh(refresh_{i}), .cycle(cycle_{i}));\n"
        for i in each
    )
    signals = "".join(
        f"  logic clk_{i}, awake_{i};\n  logic [47:0] cycle_{i};\n  logic [7:0] kick_{i} = 8'd0;\n" for i in each
    )
    made = "".join(
        f"  sim_clock #(.CLOCK({i})) clock_{i} (.started, .stay_awake(always_on | rst), .awake(awake_{i}),\n"
        f"      .kick(kick_{i}), .clk(clk_{i}), .cycle(cycle_{i}));\n"
        for i in each
    )
    return (
        "// Generated: the top level of both simulators.\n`ifdef VERILATOR\nmodule top (\n"
        "    input logic [7:0] wake /*verilator public_flat_rw*/,\n    input logic rst,\n    input logic faults"
        f"{inputs}\n);\n{counted}{body}endmodule\n`else\nmodule top;\n"
        "  logic rst = 1'b1, faults = 1'b0, started = 1'b0, always_on = 1'b0;\n  logic [7:0] wake = 8'd0;\n"
        f"{signals}{made}{body}endmodule\n`endif\n"
    )


def _clocks_h(clocks: int) -> str:
    pins = "".join(f"  pins[{i}] = {{&top->clk_{i}, &top->refresh_{i}, &top->awake_{i}}};\n" for i in range(clocks))
    return (
        "// Generated: the clocks of the cluster, for verilator_main.cpp.\n"
        "struct ClockPins { CData *clk; CData *refresh; const CData *awake; };\n"
        f"enum {{ CLOCKS = {clocks} }};\n"
        "static void clock_pins(Vtop *top, ClockPins *pins, CData **wake, CData **reset, CData **faults) {\n"
        f"{pins}  *wake = &top->wake;\n  *reset = &top->rst;\n  *faults = &top->faults;\n}}\n"
    )
