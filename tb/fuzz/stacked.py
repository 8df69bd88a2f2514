"""Layers that stand on HAL in the mixed fuzz: how they are started, and what their networks do to packets."""

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
"""Of such layers on the RTL."""
NIC, CHIPS = load_profile(PROFILE).kind, 4
NODES = 4
"""At most."""
SETTLE_PS = 200_000_000


def faults(draw: Draw) -> dict[str, int]:
    """What the network does: rates, and one route that is late by some us."""
    rates = {name: draw.one_of((10, 60)) for name in FAULTS if draw.once_in(3)}
    late = {"late": draw.one_of((3, 20, 60))} if draw.once_in(3) else {}
    return {**rates, **late, "seed": draw.whole(0, 1 << 16)} if rates or late else {}


def start(layer: str, program: Program, world: World) -> list[Any]:
    """A layer's library on each node, and what it stands on: option `hal.routes` is HAL's, `routes` the layer's own."""
    return [_libraries(layer, program, world, node).start(layer) for node in range(program.nodes)]


def _libraries(layer: str, program: Program, world: World, node: int) -> Libraries:
    def view(one: str, given: Options) -> ClusterView:
        own = {name.rpartition(".")[2]: value for name, value in program.options.items() if _owner(name, layer) == one}
        return world.view(node, {**own, **given})  # type: ignore[dict-item]

    def run(one: str, told: ClusterView) -> ClusterView:
        world.nics[node].spawn(nic_program(one)(world.nics[node], told), f"{one} program")
        return told

    return Libraries(world.hosts[node], view, run)


def _owner(name: str, layer: str) -> str:
    return name.partition(".")[0] if "." in name else layer


def disturb(program: Program, world: World) -> None:
    """Begin what the network does."""
    if "late" in program.faults:
        world.delay(1, program.faults["late"])
    world.disturb(program.faults)


def loses(program: Program) -> bool:
    """Whether packets may be lost."""
    return any(name in program.faults for name in ("loss", "damage"))
