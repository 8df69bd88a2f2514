"""Fuzz tests of layers on top of HAL: start of the layers, and faults of their networks."""

from __future__ import annotations

from typing import Any

from firmware.layer import Options
from firmware.layers import nic_program
from firmware.stack import Libraries
from firmware.view import ClusterView
from pymodels.profiles import load_profile
from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.world import FAULTS, World

PROFILE, CLUSTER = "sp+ppc604-332", "sp_board"
"""Profile and cluster of such layers on the RTL."""
NIC, CHIPS = load_profile(PROFILE).kind, 4
NODES = 4
"""Maximum number of nodes."""
SETTLE_PS = 200_000_000


def faults(draw: Draw) -> dict[str, int]:
    """Draw the faults of the network: rates, and a delay of one route in us."""
    rates = {name: draw.one_of((10, 60)) for name in FAULTS if draw.once_in(3)}
    late = {"late": draw.one_of((3, 20, 60))} if draw.once_in(3) else {}
    return {**rates, **late, "seed": draw.whole(0, 1 << 16)} if rates or late else {}


def start(layer: str, program: Program, world: World) -> list[Any]:
    """Return a layer's library on each node, started with the layers below: option `hal.routes` is HAL's, `routes` its
    own.
    """
    return [_libraries(layer, program, world, node).start(layer) for node in range(program.nodes)]


def _libraries(layer: str, program: Program, world: World, node: int) -> Libraries:
    def view(one: str, given: Options) -> ClusterView:
        own = {name.rpartition(".")[2]: value for name, value in program.options.items() if _owner(name, layer) == one}
        return world.view(node, {**own, **given})  # type: ignore[dict-item]

    def run(one: str, seen: ClusterView) -> ClusterView:
        world.nics[node].spawn(nic_program(one)(world.nics[node], seen), f"{one} program")
        return seen

    return Libraries(world.hosts[node], view, run)


def _owner(name: str, layer: str) -> str:
    return name.partition(".")[0] if "." in name else layer


def disturb(program: Program, world: World) -> None:
    """Activate the faults of the network."""
    if "late" in program.faults:
        world.delay(1, program.faults["late"])
    world.disturb(program.faults)


def loses(program: Program) -> bool:
    """Return True if packets may be lost."""
    return any(name in program.faults for name in ("loss", "damage"))
