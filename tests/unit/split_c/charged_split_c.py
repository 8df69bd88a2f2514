"""Split-C operations whose costs are recorded: each access, local and remote, single and bulk, and the barrier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.split_c.host import Global, SplitC
from tests.unit.layers.charges import Charges
from tests.unit.split_c.split_c_bench import Bench

COUNT = 100
Access = Callable[[SplitC, Global, Global], Awaitable[object]]
"""Access of a node with a local pointer and a local or remote one."""
ACCESSES: dict[str, Access] = {
    "get": lambda c, here, there: c.get(here, there),
    "put": lambda c, here, there: c.put(there, 7),
    "store": lambda c, here, there: c.store(there, 7),
    "bulk get": lambda c, here, there: c.bulk_get(here, there, COUNT),
    "bulk put": lambda c, here, there: c.bulk_put(there, here, COUNT),
    "bulk store": lambda c, here, there: c.bulk_store(there, here, COUNT),
}


def tour(charges: Charges) -> None:
    """Run each operation."""
    with charges.operation("start"):
        bench = Bench()
    near, far = bench.nodes
    arrays = [(one.all_blocks(COUNT, "i4"), one.all_blocks(COUNT, "i4")) for one in bench.nodes]
    here = arrays[0][0].part(0)
    with charges.operation("barrier"):
        bench.run(_second(near), _second(far))
    for name, access in ACCESSES.items():
        for where in range(2):
            with charges.operation(f"{name}, {('here', 'there')[where]}, and barrier"):
                bench.run(_first(near, access, here, arrays[0][1].part(where)), _second(far))


async def _first(node: SplitC, access: Access, here: Global, there: Global) -> None:
    await access(node, here, there)
    await node.sync()
    await _second(node)


async def _second(node: SplitC) -> None:
    await node.barrier()
    await node.sync()
