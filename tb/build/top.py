"""Top-level Verilog of a cluster, generated from its topology: nodes, switches, cables, clocks.

The module `top` contains `cluster`. On Verilator the clocks are its inputs, driven by the main loop; on Icarus `top`
generates them. Everything that is not topology is a run-time setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pymodels.card.fabric import MODULE, module_text
from pymodels.config.model import Cluster
from pymodels.profiles import Profile
from pymodels.topology import End
from tb.build import components
from tb.build.build import Design
from tb.build.instances import (
    card_file,
    clock_counters,
    clock_pins,
    clock_wants,
    node_instance,
    switch_instance,
    word,
)
from tb.build.numbers import NIC, Numbers


def cluster_design(cluster: Cluster, profile: Profile, core: bool = False, monitored: bool = False) -> Design:
    """Return the design of a configured cluster whose hosts have the NICs of a profile, with its FPGA circuits.

    `core` adds NIC cores that can execute machine code, `monitored` monitors of buses and links.
    """
    circuits = {f"{MODULE}.sv": module_text(cluster.circuits)} if cluster.circuits else {}
    return design(Numbers.from_cluster(cluster, profile, core, monitored), circuits)


def design(numbers: Numbers, circuits: Mapping[str, str] = MappingProxyType({})) -> Design:
    """Return the design of a cluster for both simulators: one model, or one a component on Verilator without waves.

    `circuits` is the generated file of the FPGA cards' circuits; without it, those of `hdl/card` are used.
    """
    generated = {
        "cluster.sv": _cluster(numbers),
        "top.sv": _top(numbers.clocks, _instance(numbers.clocks)),
        "components.h": _one_component(numbers.clocks),
        **card_file(numbers.nic, numbers.core, numbers.monitored),
        **circuits,
    }
    return Design("top", generated=generated, clocked=True, split=components.design(numbers, circuits))


def switch_design(ports: int) -> Design:
    """Return the design of a single crossbar with traffic at each port and one clock."""
    body = f"  sim_switch_study #(.PORTS({ports})) study (.clk(clk_0), .rst, .awake(awake_0));\n"
    return Design("top", generated={"top.sv": _top(1, body), "components.h": _one_component(1)}, clocked=True)


def _ports(clocks: int) -> list[str]:
    lines = ["input logic rst", "input logic faults"]
    for i in range(clocks):
        lines += [
            f"input logic clk_{i}",
            f"input logic [47:0] cycle_{i}",
            f"input logic refresh_{i}",
            f"output logic awake_{i}",
        ]
    return lines


def _wires(end: End) -> str:
    return f"{word(end.node)}_{end.port}"


def _cluster(numbers: Numbers) -> str:
    topology = numbers.topology
    ends = [End(node, port) for node, ports in topology.ports.items() for port in range(ports)]
    body = [f"  logic [8:0] tx_{_wires(end)};" for end in ends]
    body += [_node(numbers, n) for n in range(numbers.nodes)]
    body += [_switch(numbers, s) for s in range(len(topology.switches))]
    header = "// A cluster, generated from its topology.\nmodule cluster (\n    "
    return header + ",\n    ".join(_ports(numbers.clocks)) + "\n);\n" + "\n".join(body) + "\nendmodule\n"


def _node(numbers: Numbers, node: int) -> str:
    host = numbers.topology.hosts[node]
    own, far = _wires(End(host, 0)), _wires(numbers.topology.peers[End(host, 0)])
    wires = {"in": f"tx_{far}", "tx": f"tx_{own}"}
    name = f"host_{word(host)}"
    clock, further = numbers.clock(node, NIC), numbers.further(node)
    return node_instance(name, numbers.nic, node, clock, wires, further, monitored=numbers.monitored)


def _switch(numbers: Numbers, number: int) -> str:
    switch, peers = numbers.topology.switches[number], numbers.topology.peers
    ends = [End(switch.name, port) for port in range(switch.ports)]
    wires = {
        "in": [f"tx_{_wires(peers[end])}" if end in peers else "9'd0" for end in ends],
        "tx": [f"tx_{_wires(end)}" for end in ends],
    }
    name, clock, cable = f"switch_{word(switch.name)}", numbers.switch_clock(number), numbers.first_cable(number)
    return switch_instance(name, numbers.nic, number, clock, cable, wires, monitored=numbers.monitored)


def _instance(clocks: int) -> str:
    connect = "".join(f", .clk_{i}, .cycle_{i}, .refresh_{i}, .awake_{i}" for i in range(clocks))
    return f"  cluster cluster (.rst, .faults{connect});\n"


def _top(clocks: int, body: str) -> str:
    """Return `top` around a body: clocks are inputs on Verilator and generated on Icarus."""
    each = range(clocks)
    inputs = "".join(f",\n    {pin}" for pin in clock_pins(clocks))
    signals = "".join(
        f"  logic clk_{i}, refresh_{i}, awake_{i};\n  logic [47:0] cycle_{i};\n  logic [7:0] kick_{i} = 8'd0;\n"
        for i in each
    )
    made = "".join(
        f"  sim_clock #(.CLOCK({i})) clock_{i} (.started, .stay_awake(always_on | rst), .awake(awake_{i}),\n"
        f"      .kick(kick_{i}), .clk(clk_{i}), .refresh(refresh_{i}), .cycle(cycle_{i}));\n"
        for i in each
    )
    return (
        "// Generated: the top level of both simulators.\n`ifdef VERILATOR\nmodule top (\n"
        "    input logic [7:0] wake /*verilator public_flat_rw*/,\n    input logic rst,\n    input logic faults"
        f"{inputs}\n);\n{clock_counters(clocks)}{clock_wants(clocks, ())}{body}endmodule\n`else\nmodule top;\n"
        "  logic rst = 1'b1, faults = 1'b0, started = 1'b0, always_on = 1'b0;\n  logic [7:0] wake = 8'd0;\n"
        f"{signals}{made}{body}endmodule\n`endif\n"
    )


def _one_component(clocks: int) -> str:
    pins = "".join(f"  cluster.clock(&top->clk_{i}, &top->refresh_{i}, &top->wants_{i});\n" for i in range(clocks))
    return (
        "// Generated: the whole design as one component, for verilator_main.cpp.\n"
        '#ifndef SANLAB_PUBLIC\n#include "Vtop__Syms.h"\n#endif\nPARTS(Vtop);\n'
        "static void describe(Vtop *top, Cluster &cluster) {\n  cluster.wake = &top->wake;\n"
        f"  cluster.component(top, Vtop_parts, {{}});\n{pins}}}\n"
    )
