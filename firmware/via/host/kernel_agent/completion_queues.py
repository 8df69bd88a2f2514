"""The NIC's completion queues: which are in use, and where the ring of each is."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Command


class CompletionQueues:
    """Of one NIC."""

    def __init__(self, vis: ViTable) -> None:
        self._shared, self._vis = vis.shared, vis
        self.used = [False] * vis.shared.options.queues

    async def take(self, physical: int, entries: int) -> int | None:
        """A queue with its ring at a physical address; None when none is left."""
        if False not in self.used:
            return None
        number = self.used.index(False)
        self.used[number] = True
        await self.set_ring(number, physical, entries)
        return number

    async def set_ring(self, number: int, physical: int, entries: int) -> None:
        """The NIC writes a queue's entries into this ring; what it wrote before is in host memory."""
        shared = self._shared
        await store_words(shared.host, shared.layout.queue(number), physical, entries)
        await shared.commands.set_queue(number)
        await shared.commands.do(Command.FENCE, self._vis.agents)

    async def free(self, number: int) -> None:
        """It is no longer used."""
        await self.set_ring(number, 0, 0)
        self.used[number] = False
