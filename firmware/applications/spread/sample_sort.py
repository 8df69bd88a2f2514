"""Sample sort: every node sorts its share of the keys and puts a sample into every other node's memory.

All nodes choose the same splitters from the samples. The number of keys from node to node is put, too; then the keys
are stored, and each node sorts the keys it received.
"""

from __future__ import annotations

import numpy as np

from firmware.applications.spread.node import Array, Node, Program

SAMPLES = 8
"""Number of samples from each node for each node."""
OPERATIONS = 3
"""Operations of a comparison in a sort: load, compare, move."""


def keys(size: int, seed: int) -> Array:
    """Return all keys."""
    return np.random.default_rng(seed).integers(0, 1 << 32, size, np.uint32)


async def sample_sort(node: Node, size: int, seed: int) -> Array:
    """Run one node. Return the keys between its splitters, in order."""
    c, mine = node.c, node.share(size)
    own = c.all_blocks(-(-size // node.nodes), np.uint32)
    c.local(own)[: len(mine)] = np.sort(keys(size, seed)[mine.start : mine.stop])
    await node.compute(_operations(len(mine)))
    ordered = c.local(own)[: len(mine)]
    cuts = np.searchsorted(ordered, await _splitters(node, ordered))
    begins, ends = [0, *cuts], [*cuts, len(mine)]
    counts = await _exchange(node, [int(end - begin) for begin, end in zip(begins, ends, strict=True)])
    sorted_here = c.all_blocks(size, np.uint32)
    for step in range(node.nodes):
        to = (node.me + step) % node.nodes
        place = sorted_here.part(to) + int(counts[: node.me, to].sum())
        await c.bulk_store(place, own.part(node.me) + int(begins[to]), int(ends[to] - begins[to]))
    await c.all_store_sync()
    here = c.local(sorted_here)[: int(counts[:, node.me].sum())]
    await node.compute(_operations(len(here)))
    return np.sort(here)


async def _splitters(node: Node, ordered: Array) -> Array:
    """Return the keys that separate the nodes' parts, the same on all nodes, from the exchanged samples."""
    c, count = node.c, SAMPLES * node.nodes
    samples = c.all_blocks(count * node.nodes, np.uint32)
    at = count * node.me
    c.local(samples)[at : at + count] = ordered[np.linspace(0, len(ordered) - 1, count).astype(int)]
    for other in range(node.nodes):
        if other != node.me:
            await c.bulk_put(samples.part(other) + at, samples.part(node.me) + at, count)
    await c.sync()
    await c.barrier()
    await node.compute(_operations(count * node.nodes))
    return np.sort(c.local(samples))[count::count][: node.nodes - 1]


async def _exchange(node: Node, counts: list[int]) -> Array:
    """Return the number of keys from each node to each other."""
    c = node.c
    table = c.all_blocks(node.nodes * node.nodes, np.uint32)
    at = node.nodes * node.me
    c.local(table)[at : at + node.nodes] = counts
    for other in range(node.nodes):
        if other != node.me:
            await c.bulk_put(table.part(other) + at, table.part(node.me) + at, node.nodes)
    await c.sync()
    await c.barrier()
    return c.local(table).reshape(node.nodes, node.nodes).astype(np.int64)


def _operations(count: int) -> float:
    return OPERATIONS * count * max(1, count - 1).bit_length()


def alone(size: int, seed: int) -> Array:
    """Return all keys in order."""
    return np.sort(keys(size, seed))


SAMPLE_SORT = Program(sample_sort, alone)
