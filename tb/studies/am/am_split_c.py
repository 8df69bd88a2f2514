"""How long do Split-C programs take over Active Messages, and which part of it is communication?

Strategy: three programs run on all hosts, each host with its part of the data: a histogram, a matrix product that
fetches the next rows while it computes, and a sample sort. Their results must equal those of one processor alone.
Computing takes simulated time by a count of operations, at an assumed rate. Communication is the rest of the time from
a barrier to the end of the last host, averaged over hosts. The cluster sets the number of hosts; a sweep compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from firmware.applications.spread import PROGRAMS, Node
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.hosts import start_together, together

if TYPE_CHECKING:
    from firmware.split_c.host import SplitC

LAYER = "split_c"
CLUSTER = "four_hosts"
OPTIONS = {
    "programs": Option("all", f"programs to run, in this order: some of {', '.join(PROGRAMS)}, or all"),
    "values": Option(8192, "values of the histogram", 1, 1_000_000),
    "rows": Option(32, "rows of each matrix", 1, 256),
    "keys": Option(2048, "keys to sort", 1, 100_000),
    "mops": Option(40, "operations of a processor in a microsecond (assumed)", 1, 1_000_000),
    **stack_options(LAYER),
}
QUICK = "values=256 rows=8 keys=128"
SIZES = {"histogram": "values", "matrix": "rows", "sort": "keys"}


@dataclass(frozen=True)
class Share:
    """Result and statistics of one host."""

    result: np.ndarray[Any, Any]
    us: float
    computed_us: float
    messages: int


async def run(lab: Lab) -> None:
    """Run the study."""
    chosen = _programs(lab.text("programs"))
    nodes: list[Any] = lab.start_layer(LAYER)
    await start_together(lab, nodes)
    for done, name in enumerate(chosen):
        size = lab.option(SIZES[name])
        parts = await together(lab, f"{name} on node", [_part(lab, node, name, size) for node in nodes])
        result = np.concatenate([part.result for part in parts])
        lab.check(
            f"result of {name}",
            np.array_equal(result, PROGRAMS[name].alone(size, lab.seed)),
            "the result differs from that of one processor",
        )
        took, messages = max(part.us for part in parts), sum(part.messages for part in parts)
        lab.findings.messages += messages
        lab.metric(f"us_{name}", took)
        lab.metric(f"messages_{name}", messages)
        lab.metric(
            f"communication_percent_{name}", 100 * (1 - sum(one.computed_us for one in parts) / took / len(parts))
        )
        lab.progress(done + 1, len(chosen), "programs")


def _programs(text: str) -> list[str]:
    chosen = list(PROGRAMS) if text == "all" else text.split(",")
    for name in chosen:
        if name not in PROGRAMS:
            cause = f"programs has {name!r}"
            raise ConfigError("SET", 0, "unknown program", cause, f"give some of {', '.join(PROGRAMS)}")
    return chosen


async def _part(lab: Lab, split_c: SplitC, name: str, size: int) -> Share:
    """Run one program on one host."""
    node = Node(split_c, lab.option("mops"))
    await split_c.barrier()
    begun, before = lab.kernel.now, split_c.messages
    result = await PROGRAMS[name].run(node, size, lab.seed)
    return Share(result, (lab.kernel.now - begun) / 1e6, node.computed_ns / 1e3, split_c.messages - before)
