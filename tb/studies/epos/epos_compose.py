"""What does a composition of EPOS cost beside the baseline: header, memory, clocks of each path, time of a message?

Strategy: the composition that is asked for (`SET="epos.protocols=reliability+flow"`) runs on all hosts; the first one
and the last one play ping-pong, and half of a round trip is the one-way time. Header and memory are those of the layout
that the run uses, clocks those of the compiled paths that it charges; each is compared with that of the baseline, so a
protocol that is not selected shows nothing. `clocks_over_hand_written` compares them with the same paths written by
hand for this composition (`tests/unit/epos/byhand/`). `epos.dynamic=1` is the control: hooks of all protocols are
there, their flags are tested at run time, and none acts.
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
    """Raise an error for a composition that is not written by hand, and for tables of other C sources."""
    for side in ("nic", "host"):
        over_hand_written(side, composition(LAYER, options_by_layer(plan.options).get(LAYER, {})), lambda _: 0.0)


async def run(lab: Lab) -> None:
    """The study."""
    hosts = await started(lab)
    near, far, data = hosts[0], hosts[-1], (bytes(range(256)) * 16)[: lab.option("size")]
    lab.metric("one_way_us", statistics.mean(await one_way_us(lab, near, far, data, lab.option("repetitions"))))
    lab.metric("header_B", near.place.header_bytes)
    lab.metric("nic_memory_B", sum(size for _, size in near.place.parts.values()))
    _clocks(lab, composition(LAYER, dict(near.view.options)))


def _clocks(lab: Lab, chosen: tuple[str, ...]) -> None:
    """Of each path that holds a point-cut, its clocks, and how many the baseline has less."""
    profile = lab.plan.profile
    nic, host = NicProcessor.of(profile), HostProcessor.of(profile)
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
    """Of each path of a side that holds a point-cut, the clocks that it takes more than written by hand; flags that are
    read at run time, none of which acts, beside the baseline.
    """
    here = PathTable.load(side, LAYER, composition=chosen)
    hand = PathTable.load(side, f"{LAYER}/byhand", composition=() if chosen == ("dynamic",) else chosen)
    return {name: clocks(here.cost(name)) - clocks(cost) for name, cost in hand.paths.items()}
