"""Histogram: every node counts its share of the values and stores each bucket's count to the node that adds it up."""

from __future__ import annotations

import numpy as np

from firmware.applications.spread.node import Array, Node, Program

BUCKETS = 256
OPERATIONS = 4
"""Operations of a value: load it; load, increment and store its count."""


def values(size: int, seed: int) -> Array:
    """Return all values."""
    return np.random.default_rng(seed).integers(0, BUCKETS, size, np.uint32)


async def histogram(node: Node, size: int, seed: int) -> Array:
    """Run one node. Return the counts of the buckets that it adds up."""
    c, mine = node.c, node.share(size)
    counts = c.all_blocks(BUCKETS, np.uint32)
    widest = -(-BUCKETS // node.nodes)
    rows = c.all_blocks(widest * node.nodes, np.uint32)
    c.local(counts)[:] = np.bincount(values(size, seed)[mine.start : mine.stop], minlength=BUCKETS)
    await node.compute(OPERATIONS * len(mine))
    for step in range(node.nodes):
        to = (node.me + step) % node.nodes
        buckets = node.share(BUCKETS, to)
        source = counts.part(node.me) + buckets.start
        await c.bulk_store(rows.part(to) + widest * node.me, source, len(buckets))
    await c.all_store_sync()
    await node.compute(2 * widest * node.nodes)
    own = node.share(BUCKETS)
    sums: Array = c.local(rows).reshape(node.nodes, widest)[:, : len(own)].sum(axis=0, dtype=np.uint32)
    return sums


def alone(size: int, seed: int) -> Array:
    """Return all counts."""
    return np.bincount(values(size, seed), minlength=BUCKETS).astype(np.uint32)


HISTOGRAM = Program(histogram, alone)
