"""Cluster for Verilator as components: one model for all hosts, one for all switches of a size.

Each model is built with the numbers of the first host or switch. For each instance, the main loop sets offsets of these
numbers in the doorway (hdl/sim/doorway/component.c), evaluates the model, and moves characters along the cables. Hosts
and switches share their code, so a larger cluster compiles only its list of components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pymodels.topology import End
from pymodels.trace import PARTS_PER_NODE, PORTS_PER_SWITCH
from tb.build.build import Design
from tb.build.instances import (
    HALF_RX,
    GatedClocks,
    card_file,
    clock_counters,
    clock_domains,
    clock_pins,
    clock_wants,
    gated_index,
    gated_pins,
    node_gated,
    node_instance,
    switch_gated,
    switch_instance,
    word,
)
from tb.build.numbers import NIC, Further, Numbers

CABLE_PINS = {"in": "input", "tx": "output"}
"""Direction of a component's pins for each port, each of which carries one character."""
MANY_NODES = 128
"""Number of nodes above which the component list is not optimised; optimising 1,024 nodes takes over a minute."""
TOP = """// Generated: what cocotb sees of a cluster.
module top (
    input logic [7:0] wake /*verilator public_flat_rw*/
);
endmodule
"""


def design(numbers: Numbers, circuits: Mapping[str, str]) -> Design:
    """Return the design of a cluster's main program with the models that it evaluates."""
    sizes = sorted({switch.ports for switch in numbers.topology.switches})
    kinds = sorted({numbers.further(node) for node in range(numbers.nodes)})
    models = (
        *(_node_model(numbers, further, circuits) for further in kinds),
        *(_switch_model(numbers, ports) for ports in sizes),
    )
    generated = {"top.sv": TOP, "components.h": _components_h(numbers, kinds, sizes)}
    return Design("top", generated=generated, clocked=True, models=models)


def _node_kind(further: Further) -> str:
    """Return the model name of a node with these further cards."""
    return "node" + "".join(f"_{card}" for card, there in further._asdict().items() if there)


def _node_model(numbers: Numbers, further: Further, circuits: Mapping[str, str]) -> Design:
    nic = numbers.nic
    wires = {pin: f"{pin}_0" for pin in CABLE_PINS}
    body = node_instance("node", nic, 0, 0, wires, further, gated=True, monitored=numbers.monitored)
    files = {**card_file(nic, numbers.core, numbers.monitored), **(circuits if further.fpga else {})}
    return _model(_node_kind(further), further.clocks, node_gated(nic, 0), 1, body, files)


def _switch_model(numbers: Numbers, ports: int) -> Design:
    wires = {pin: [f"{pin}_{port}" for port in range(ports)] for pin in CABLE_PINS}
    body = switch_instance("switch", numbers.nic, 0, 0, 0, wires, gated=True, monitored=numbers.monitored)
    return _model(f"switch_{ports}", 1, switch_gated(0, ports), ports, body)


def _model(
    name: str,
    clocks: int,
    gated: Sequence[GatedClocks],
    ports: int,
    body: str,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Design:
    pins = ["input logic rst", "input logic faults", *clock_pins(clocks), *gated_pins(gated)]
    pins += [f"{way} logic [8:0] {pin}_{port}" for port in range(ports) for pin, way in CABLE_PINS.items()]
    inside = f"{clock_counters(clocks)}{clock_wants(clocks, gated)}{body}\n"
    text = f"// Generated: a component of a cluster.\nmodule {name} (\n    " + ",\n    ".join(pins) + f"\n);\n{inside}"
    files = {f"{name}.sv": f"{text}endmodule\n", **more}
    return Design(name, generated=files, clocked=True, library=True, domains=clock_domains(clocks, gated))


def _components_h(numbers: Numbers, nodes: list[Further], sizes: list[int]) -> str:
    of_node = node_gated(numbers.nic, 0)
    kinds: list[tuple[str, int, Sequence[GatedClocks]]] = [(_node_kind(f), f.clocks, of_node) for f in nodes]
    kinds += [(f"switch_{ports}", 1, switch_gated(0, ports)) for ports in sizes]
    lines = ["// Generated: the components of the cluster and their cables, for verilator_main.cpp."]
    lines += [f'#include "V{kind}.h"' for kind, *_ in kinds]
    lines += ["#ifndef SANLAB_PUBLIC", *(f'#include "V{kind}__Syms.h"' for kind, *_ in kinds), "#endif"]
    lines += [_add(*kind) for kind in kinds]
    plain = '__attribute__((optimize("O0"))) ' if numbers.nodes > MANY_NODES else ""
    lines += [f"{plain}static void describe(Vtop *top, Cluster &cluster) {{", "  cluster.wake = &top->wake;"]
    lines += [*_instances(numbers), *_cables(numbers), "}"]
    return "\n".join(lines) + "\n"


def _add(kind: str, clocks: int, gated: Sequence[GatedClocks]) -> str:
    pins = [f"  cluster.clock(&model->clk_{i}, &model->refresh_{i}, &model->wants_{i});" for i in range(clocks)]
    owners = enumerate((group.clock, n in group.kicked) for group in gated for n in range(group.number))
    pins += [
        f"  cluster.gated({clock}, &model->gated_clk_{i}, {str(kicked).lower()});" for i, (clock, kicked) in owners
    ]
    head = f"static V{kind} *add_{kind}(Cluster &cluster, const char *name, dw_component numbers) {{"
    made = f"  V{kind} *model = cluster.component(new V{kind}(name), V{kind}_parts, numbers);"
    return "\n".join([f"PARTS(V{kind});", head, made, *pins, "  return model;\n}"])


def _instances(numbers: Numbers) -> list[str]:
    """Return one line a component, nodes first, with its numbers in the order of `dw_component`."""
    lines = []
    for node, host in enumerate(numbers.topology.hosts):
        more = (PARTS_PER_NODE * node, PARTS_PER_NODE * node, 2 * node, numbers.clock(node, NIC), node)
        lines.append(_instance(node, _node_kind(numbers.further(node)), f"host_{word(host)}", more))
    for s, switch in enumerate(numbers.topology.switches):
        more = (s * PORTS_PER_SWITCH, s, 0, numbers.switch_clock(s), numbers.first_cable(s))
        lines.append(_instance(numbers.nodes + s, f"switch_{switch.ports}", f"switch_{word(switch.name)}", more))
    return lines


def _instance(component: int, kind: str, name: str, more: tuple[int, ...]) -> str:
    return f'  auto *c{component} = add_{kind}(cluster, "{name}", {{{", ".join(map(str, more))}}});'


def _cables(numbers: Numbers) -> list[str]:
    """Return one line for each direction of each cable."""
    topology = numbers.topology
    names = [*topology.hosts, *(switch.name for switch in topology.switches)]
    return [
        f"  cluster.cable({near}, &c{near}->tx_{a.port}, &c{far}->in_{b.port}, {numbers.clock_of(a)}, "
        f"{_sender(numbers, a)}, {numbers.clock_of(b)}, {_receiver(numbers, b)});"
        for a, b in topology.peers.items()
        for near, far in [(names.index(a.node), names.index(b.node))]
    ]


def _sender(numbers: Numbers, end: End) -> int:
    """Return the index of the gated clock that sends at an end, or -1 for the clock itself (NICs without
    gated clocks).
    """
    if numbers.topology.is_host(end.node):
        return -1
    return gated_index(switch_gated(0, numbers.topology.ports[end.node]), "", end.port)


def _receiver(numbers: Numbers, end: End) -> int:
    """Return the index of the gated clock that samples the input at an end."""
    if numbers.topology.is_host(end.node):
        return gated_index(node_gated(numbers.nic, 0), "link_", HALF_RX)
    return gated_index(switch_gated(0, numbers.topology.ports[end.node]), "", end.port)
