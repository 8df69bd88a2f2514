"""Allocation of the NIC's completion queues and their rings."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Command


class CompletionQueues:
    """Completion queues of one NIC."""

    def __init__(self, vis: ViTable) -> None:
        self._shared, self._vis = vis.shared, vis
        self.used = [False] * vis.shared.options.queues

    async def take(self, physical: int, entries: int) -> int | None:
        """Allocate a queue with its ring at a physical address. Return its number, or None if all are in use."""
        if False not in self.used:
            return None
        number = self.used.index(False)
        self.used[number] = True
        await self.set_ring(number, physical, entries)
        return number

    async def set_ring(self, number: int, physical: int, entries: int) -> None:
        """Set the ring of a queue. On return all entries of the previous ring are in host memory."""
        shared = self._shared
        await store_words(shared.host, shared.layout.queue(number), physical, entries)
        await shared.commands.set_queue(number)
        await shared.commands.do(Command.FENCE, self._vis.agents)

    async def free(self, number: int) -> None:
        """Free a queue."""
        await self.set_ring(number, 0, 0)
        self.used[number] = False
