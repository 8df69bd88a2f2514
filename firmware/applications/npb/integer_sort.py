"""IS, class S: keys are ranked ten times by buckets distributed over the ranks; five keys are checked each time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node, Verified
from pymodels.npb.generator import numbers

KEYS, LARGEST = 1 << 16, 1 << 11
BUCKETS = 1 << 9
ITERATIONS = 10
WATCHED = (48427, 17148, 23627, 62548, 4431)
"""Positions of the checked keys."""
RANKS = (0, 18, 346, 64917, 65463)
ADDED = 3

Keys = NDArray[np.int32]


async def integer_sort(node: Node) -> Verified:
    """Run one rank. An operation is a key in an iteration, as NPB counts."""
    mine = node.share(KEYS)
    keys = (LARGEST / 4 * numbers(4 * len(mine), skip=4 * mine.start).reshape(-1, 4).sum(axis=1)).astype(np.int32)
    computed: dict[str, float] = {}
    held = np.empty(0, np.int32)
    for iteration in range(1, ITERATIONS + 1):
        if node.rank == 0:
            keys[iteration], keys[iteration + ITERATIONS] = iteration, LARGEST - iteration
        watched = await _watched(node, keys, mine)
        held, before = await _exchange(node, keys)
        await node.compute(len(mine))
        found = np.array([before + (held < key).sum() if key in held else 0 for key in watched])
        ranks = np.empty_like(found)
        await node.comm.Allreduce(found, ranks)
        for at, rank in enumerate(ranks.tolist()):
            computed[f"rank {at} in iteration {iteration}"] = rank - iteration if at < ADDED else rank + iteration
    computed["keys out of order"] = await _out_of_order(node, np.sort(held))
    published = {name: RANKS[int(name.split()[1])] for name in computed if name.startswith("rank")}
    return Verified(computed, {**published, "keys out of order": 0}, 0)


async def _watched(node: Node, keys: Keys, mine: range) -> Keys:
    """Return the keys at the checked positions."""
    own = np.array([keys[at - mine.start] if at in mine else 0 for at in WATCHED], np.int32)
    result = np.empty_like(own)
    await node.comm.Allreduce(own, result)
    return result


async def _exchange(node: Node, keys: Keys) -> tuple[Keys, int]:
    """Exchange keys so that each rank has adjoining buckets. Return this rank's keys and the number of keys before
    them.
    """
    bucket = keys // (LARGEST // BUCKETS)
    counts = np.bincount(bucket, minlength=BUCKETS)
    total = np.empty_like(counts)
    await node.comm.Allreduce(counts, total)
    below = np.cumsum(total) - total
    owner = np.minimum(below * node.size // KEYS, node.size - 1)
    order = np.argsort(bucket, kind="stable")
    out = np.bincount(owner, weights=counts, minlength=node.size).astype(np.int64)
    into = np.empty_like(out)
    await node.comm.Alltoall(out, into)
    held = np.empty(int(into.sum()), np.int32)
    await node.comm.Alltoallv([keys[order], out.tolist()], [held, into.tolist()])
    return held, int(total[owner < node.rank].sum())


async def _out_of_order(node: Node, held: Keys) -> int:
    """Return the number of neighbouring pairs, within and between ranks, in the wrong order."""
    edges = np.zeros((node.size, 2), np.int32)
    mine = np.array([held[0], held[-1]], np.int32)
    await node.comm.Allgather(mine, edges)
    return int((np.diff(held) < 0).sum() + (edges[:-1, 1] > edges[1:, 0]).sum())
