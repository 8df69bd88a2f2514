"""Messages of a benchmark without its computation: the same partners, sizes and order, with checked random bytes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node
from firmware.mpi.host import Request
from pymodels.npb import Transfer, step_operations, traffic

Bytes = NDArray[np.uint8]


async def stream(node: Node, code: str, problem: str, steps: int, seed: int) -> int:
    """Run the messages of one rank and return the number of wrong ones.

    The operations of a step are charged in equal parts before each send and after each receive (ours).

    Args:
        node: the rank.
        code: name of the benchmark.
        problem: class of the benchmark.
        steps: number of steps.
        seed: seed of the bytes.
    """
    step = traffic(code, problem, node.size, node.rank).step
    part = step_operations(code, problem) / node.size / max(1, len(step))
    messages = _Messages(node, seed, part)
    for transfer in step * steps:
        await messages.begin(transfer)
        if transfer.ends:
            await messages.finish()
    await messages.finish()
    return messages.wrong


class _Messages:
    """Pending sends and receives of a rank, with `operations` charged for each message."""

    def __init__(self, node: Node, seed: int, operations: float) -> None:
        self._node, self._seed, self._operations, self.wrong = node, seed, operations, 0
        self._numbers: Counter[tuple[bool, int]] = Counter()
        self._begun: list[Request] = []
        self._received: list[tuple[Bytes, Bytes]] = []

    async def begin(self, transfer: Transfer) -> None:
        """Start the next send or receive between the two ranks."""
        way, peer = (transfer.send, transfer.peer), transfer.peer
        source, target = (self._node.rank, peer) if transfer.send else (peer, self._node.rank)
        data = _payload([self._seed, source, target, self._numbers[way]], transfer.size)
        self._numbers[way] += 1
        if transfer.send:
            await self._node.compute(self._operations)
            self._begun.append(await self._node.comm.Isend(data, peer))
            return
        room = np.zeros_like(data)
        self._received.append((room, data))
        self._begun.append(await self._node.comm.Irecv(room, peer))

    async def finish(self) -> None:
        """Wait for all pending messages and check their bytes."""
        await Request.Waitall(self._begun)
        self.wrong += sum(not np.array_equal(room, data) for room, data in self._received)
        await self._node.compute(self._operations * len(self._received))
        self._begun, self._received = [], []


def _payload(seed: list[int], size: int) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)
