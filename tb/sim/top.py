"""The top-level Verilog of a cluster, generated from its topology: nodes, switches, cables, clocks.

Every component has its own clock, so that it can sleep alone: node n has the clocks 3n (NIC), 3n+1 (link) and 3n+2 (PCI), switch s
the clock 3N+s. On Verilator the module `cluster` is the top and its clocks are inputs that the main loop drives; on Icarus the
module `top` around it makes them. Nothing but the topology is in here; everything else is a run-time setting.
"""

from __future__ import annotations

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
        """Number of the cable direction that arrives at port 0 of a switch; the other ports follow. Node n's own is n."""
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
    generated = {"cluster.sv": _cluster(numbers), "top.sv": _top(numbers.clocks, _instance(numbers.clocks)), "clocks.h": _clocks_h(numbers.clocks)}
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


def _wires(end: End) -> str:
    return f"{end.node}_{end.port}"


def _cluster(numbers: Numbers) -> str:
    t = numbers.topology
    peer = t.peers
    body: list[str] = []
    for node in t.ports:
        for port in range(t.ports[node]):
            body.append(f"  logic [8:0] tx_{node}_{port};\n  logic hold_{node}_{port};")
    for n, host in enumerate(t.hosts):
        c = [numbers.clock(n, d) for d in (NIC, LINK, PCI)]
        far = peer[End(host, 0)]
        body.append(
            f"  sim_node #(.NODE({n}), .CLOCK_NIC({c[0]}), .CLOCK_LINK({c[1]}), .CLOCK_PCI({c[2]}), .CABLE({n})) host_{host} (\n"
            + "".join(f"      .{name}_clk(clk_{i}), .{name}_cycle(cycle_{i}), .{name}_awake(awake_{i}),\n" for name, i in zip(("nic", "link", "pci"), c, strict=True))
            + f"      .rst, .faults, .in(tx_{_wires(far)}), .in_hold(hold_{_wires(far)}), .tx(tx_{host}_0), .tx_hold(hold_{host}_0));"
        )
    for s, switch in enumerate(t.switches):
        ends = [End(switch.name, p) for p in reversed(range(switch.ports))]
        ins = ", ".join(f"tx_{_wires(peer[e])}" if e in peer else "9'h000" for e in ends)
        in_holds = ", ".join(f"hold_{_wires(peer[e])}" if e in peer else "1'b0" for e in ends)
        clock = numbers.switch_clock(s)
        body.append(
            f"  sim_switch #(.SWITCH({s}), .PORTS({switch.ports}), .CLOCK({clock}), .FIRST_CABLE({numbers.first_cable(s)})) switch_{switch.name} (\n"
            f"      .clk(clk_{clock}), .rst, .cycle(cycle_{clock}), .faults, .in({{{ins}}}), .in_hold({{{in_holds}}}),\n"
            f"      .tx({{{', '.join('tx_' + _wires(e) for e in ends)}}}), .tx_hold({{{', '.join('hold_' + _wires(e) for e in ends)}}}), .awake(awake_{clock}));"
        )
    header = "// A cluster, generated from its topology; the simulator drives its clocks.\nmodule cluster (\n    "
    return header + ",\n    ".join(_ports(numbers.clocks)) + "\n);\n" + "\n".join(body) + "\nendmodule\n"


def _instance(clocks: int) -> str:
    connect = "".join(f", .clk_{i}, .cycle_{i}, .awake_{i}" for i in range(clocks))
    return f"  cluster cluster (.rst, .faults{connect});\n"


def _top(clocks: int, body: str) -> str:
    """`top` around a body: on Verilator the clocks are inputs, on Icarus they are made here."""
    inputs = ",\n    ".join(_ports(clocks))
    signals = "".join(f"  logic clk_{i}, awake_{i};\n  logic [47:0] cycle_{i};\n  logic [7:0] kick_{i} = 8'd0;\n" for i in range(clocks))
    made = "".join(
        f"  sim_clock #(.CLOCK({i})) clock_{i} (.started, .stay_awake(always_on | rst), .awake(awake_{i}), .kick(kick_{i}), .clk(clk_{i}), .cycle(cycle_{i}));\n" for i in range(clocks)
    )
    return (
        "// Generated: the top level of both simulators.\n`ifdef VERILATOR\nmodule top (\n    input logic [7:0] wake /*verilator public_flat_rw*/,\n    "
        + inputs + f"\n);\n{body}endmodule\n`else\nmodule top;\n"
        + "  logic rst = 1'b1, faults = 1'b0, started = 1'b0, always_on = 1'b0;\n  logic [7:0] wake = 8'd0;\n"
        + signals + made + body + "endmodule\n`endif\n"
    )


def _clocks_h(clocks: int) -> str:
    pins = "".join(f"  pins[{i}] = {{&top->clk_{i}, &top->cycle_{i}, &top->awake_{i}}};\n" for i in range(clocks))
    return (
        "// Generated: the clocks of the cluster, for verilator_main.cpp.\n"
        "struct ClockPins { CData *clk; QData *cycle; const CData *awake; };\n"
        f"enum {{ CLOCKS = {clocks} }};\n"
        "static void clock_pins(Vtop *top, ClockPins *pins, CData **wake, CData **reset, CData **faults) {\n"
        f"{pins}  *wake = &top->wake;\n  *reset = &top->rst;\n  *faults = &top->faults;\n}}\n"
    )
