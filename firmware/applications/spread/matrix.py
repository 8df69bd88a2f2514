"""Matrix product: every node has rows of both matrices and computes the same rows of the product.

It gets the rows of the second matrix from one node after another, the next ones while it computes with the present.
"""

from __future__ import annotations

import numpy as np

from firmware.applications.spread.node import Array, Node, Program
from firmware.split_c.host import Global, Spread

OPERATIONS = 2
"""Operations of a pair of elements: multiply and add."""


def factors(size: int, seed: int) -> tuple[Array, Array]:
    """Return both matrices, of integers, so that the product does not depend on the order of sums."""
    random = np.random.default_rng(seed)
    first, second = (random.integers(-9, 10, (size, size)).astype(np.float64) for _ in range(2))
    return first, second


async def matrix(node: Node, size: int, seed: int) -> Array:
    """Run one node. Return its rows of the product."""
    c, mine = node.c, node.share(size)
    first, second = factors(size, seed)
    most = -(-size // node.nodes) * size
    rows, buffers = c.all_blocks(most, np.float64), c.all_blocks(2 * most, np.float64)
    c.local(rows)[: len(mine) * size] = second[mine.start : mine.stop].ravel()
    product = np.zeros((len(mine), size))
    await c.barrier()
    order = [(node.me + step) % node.nodes for step in range(node.nodes)]
    places = [buffers.part(node.me) + most * (step % 2) for step in range(node.nodes)]
    await _fetch(node, rows, order[0], places[0], size)
    for step, owner in enumerate(order):
        await c.sync()
        if step + 1 < node.nodes:
            await _fetch(node, rows, order[step + 1], places[step + 1], size)
        theirs = node.share(size, owner)
        begin = most * (step % 2)
        got = c.local(buffers)[begin : begin + len(theirs) * size].reshape(len(theirs), size)
        product += first[mine.start : mine.stop, theirs.start : theirs.stop] @ got
        await node.compute(OPERATIONS * len(mine) * len(theirs) * size)
    await c.barrier()
    return product.ravel()


async def _fetch(node: Node, rows: Spread, owner: int, to: Global, size: int) -> None:
    await node.c.bulk_get(to, rows.part(owner), len(node.share(size, owner)) * size)


def alone(size: int, seed: int) -> Array:
    """Return the product."""
    first, second = factors(size, seed)
    product: Array = (first @ second).ravel()
    return product


MATRIX = Program(matrix, alone)
