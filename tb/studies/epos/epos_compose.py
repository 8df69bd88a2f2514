"""What does a composition of EPOS cost over the baseline: header, memory, clocks of each path, latency?

Strategy: the selected composition (`SET="epos.protocols=reliability+flow"`) runs on all hosts. The first and the last
host play ping-pong, and half of a round trip is the one-way time. Header and memory are those of the layout in use,
clocks those of the compiled paths that are charged. Each is compared with the baseline, so protocols that are not
selected add nothing. `clocks_over_hand_written` compares the clocks with the same paths written by hand for this
composition (`tests/unit/epos/byhand/`). `epos.dynamic=1` is the control: it has the hooks of all protocols with flags
tested at run time, all off.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from firmware.layers import composition
from pymodels.costs import PathTable
from pymodels.costs.walk import PathCost
from pymodels.hardware.processors import HostProcessor, NicProcessor, host_clocks, nic_charge
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options, options_by_layer
from tb.plan.request import Plan
from tb.studies.epos._epos import LAYER, one_way_us, started

OPTIONS = {
    "repetitions": Option(5, "round trips", 1, 100_000),
    "size": Option(64, "bytes of a message", 0, 4096, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=2"
VARIANTS = {
    "reliability": ("", "epos.protocols=reliability"),
    "reliability-flow": ("", "epos.protocols=reliability+flow"),
    "dynamic": ("", "epos.dynamic=1"),
}


def check(plan: Plan) -> None:
    """Raise an error for a composition without a hand-written version, and for outdated cost tables."""
    for side in ("nic", "host"):
        over_hand_written(side, composition(LAYER, options_by_layer(plan.options).get(LAYER, {})), lambda _: 0.0)


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = await started(lab)
    near, far, data = hosts[0], hosts[-1], (bytes(range(256)) * 16)[: lab.option("size")]
    lab.metric("one_way_us", statistics.mean(await one_way_us(lab, near, far, data, lab.option("repetitions"))))
    lab.metric("header_B", near.place.header_bytes)
    lab.metric("nic_memory_B", sum(size for _, size in near.place.parts.values()))
    _clocks(lab, composition(LAYER, dict(near.view.options)))


def _clocks(lab: Lab, chosen: tuple[str, ...]) -> None:
    """Record the clocks of each path with a point-cut, relative to the baseline."""
    profile = lab.plan.profile
    nic, host = NicProcessor.from_profile(profile), HostProcessor.from_profile(profile)
    sides: dict[str, tuple[Callable[..., PathTable], Callable[[PathCost], float]]] = {
        "nic": (PathTable.of_nic, lambda cost: nic_charge(cost, nic).clocks),
        "host": (PathTable.of_host, lambda cost: host_clocks(cost, host)),
    }
    over = 0.0
    for side, (table, clocks) in sides.items():
        bare, here = table(LAYER), table(LAYER, composition=chosen)
        added = {name: clocks(here.cost(name)) - clocks(cost) for name, cost in bare.paths.items()}
        lab.metric(f"{side}_clocks_added", sum(added.values()))
        over += sum(over_hand_written(side, chosen, clocks).values())
        for name, more in added.items():
            if more:
                lab.metric(f"{side}_clocks_added_{name}", more)
    lab.metric("clocks_over_hand_written", over)


def over_hand_written(side: str, chosen: tuple[str, ...], clocks: Callable[[PathCost], float]) -> dict[str, float]:
    """Return the clocks of each path of a side beyond those of the hand-written path.

    The dynamic composition is compared with the hand-written baseline.
    """
    here = PathTable.load(side, LAYER, composition=chosen)
    hand = PathTable.load(side, f"{LAYER}/byhand", composition=() if chosen == ("dynamic",) else chosen)
    return {name: clocks(here.cost(name)) - clocks(cost) for name, cost in hand.paths.items()}
