"""First program of Split-C's page.

Strategy: the program runs on one node, on two and on five.
"""

from __future__ import annotations

import pytest

from firmware.split_c.host import SplitC
from tests.unit.split_c.split_c_bench import Bench


async def dot(c: SplitC, count: int) -> float:
    x, y = c.all_spread(count, "f8", block=16), c.all_spread(count, "f8", block=16)  # dealt to the nodes
    sums = c.all_blocks(c.nodes, "f8")  # one for each node, on every node
    c.local(x)[:], c.local(y)[:] = 2, 3  # numpy, in place
    mine = sum(x[i].node == c.me for i in range(count))
    part = float(c.local(x)[:mine] @ c.local(y)[:mine])
    await c.compute(mine * 50)  # nanoseconds: numpy takes none
    for node in range(c.nodes):
        await c.store(sums.part(node) + c.me, part)  # :-
    await c.all_store_sync()
    return float(c.local(sums).sum())


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    bench = Bench(nodes)
    assert bench.run(*(dot(node, 100) for node in bench.nodes)) == [600.0] * nodes
