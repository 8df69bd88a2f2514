"""Commands of the kernel to the NIC: a ring of words."""

from __future__ import annotations

from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.connection import Unacknowledged
from firmware.via.nic.descriptors import Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.layout import COMMAND_WORDS, Command, State, Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.rdma_writes import RdmaWrites
from firmware.via.nic.receive_descriptors import ReceiveDescriptors
from firmware.via.nic.sending import Sender
from firmware.via.nic.words import CommandWord


class Commands:
    """Server of the command ring."""

    def __init__(
        self,
        ni: Ni,
        breaking: Breaking,
        sender: Sender,
        completions: Completions,
        receives: ReceiveDescriptors,
        writes: RdmaWrites,
    ) -> None:
        self._ni, self._breaking, self._sender = ni, breaking, sender
        self._completions, self._receives, self._writes = completions, receives, writes
        self._owned: set[int] = set()
        self.fresh: list[int] = []
        """VIs with a new owner, until the polling loop removes them from the list."""
        self._ring = QueueCache(ni.nic, Word.COMMANDS, COMMAND_WORDS, Word.COMMAND_TAIL, Word.COMMAND_HEAD)

    @property
    def highest(self) -> int:
        """Highest VI owned by a process, or 0."""
        return max(self._owned, default=0)

    async def given(self) -> int:
        """Execute new commands, and return the position in the ring."""
        while self._ring.ready:
            await self._ni.nic.work("command")
            given = CommandWord(*self._ring.take(1))
            if given.command is Command.QUEUE:
                self._completions.take_queue(given.number)
                self._ring.free()
                continue
            endpoint = self._ni.endpoints[given.number]
            connected = endpoint.state() is State.CONNECTED
            if given.means(endpoint.generation):
                await self._do(given.command, endpoint, connected)
                await self._ni.nic.caught_up()
            self._ring.free()
        return self._ring.at

    async def _do(self, command: Command, endpoint: Endpoint, connected: bool) -> None:
        """Execute one command."""
        if command in (Command.FLUSH, Command.BREAK) and not connected:  # already broken: flush later posts only
            await self._breaking.flush_receives(endpoint)
        elif command in (Command.FLUSH, Command.BREAK):
            self._ni.nic.store(endpoint.words, endpoint.generation << 8 | State.ERROR)
            await (self._breaking.flush if command == Command.FLUSH else self._breaking.time_out)(endpoint)
        elif command == Command.RESET:
            self._owned.add(endpoint.number)
            endpoint.reset()
            self.fresh.append(endpoint.number)
        elif command == Command.LEAVE:
            self._owned.discard(endpoint.number)
            endpoint.leave()
            self._sender.leave(endpoint)
        elif command == Command.LOOK:
            await self._receives.refused(endpoint)
        elif command == Command.FENCE:
            await self._fence()
        else:
            await self._writes.copied()

    async def _fence(self) -> None:
        """Discard all translations of messages in progress, and wait for the host DMA.

        The rest of each message is translated again, and rejected if its memory is no longer registered.
        """
        self._ni.fenced += 1
        self._sender.forget_page()
        await self._check_home(self._sender.work)
        for endpoint in self._ni.endpoints:
            connection = endpoint.connection
            if connection.receiving is not None:
                connection.receiving.forget_page()
                await self._check_home(connection.receiving.work)
            if connection.writing is not None:
                connection.writing.page = -1
            for sent in connection.unacknowledged:
                if sent.reading is not None:
                    sent.reading.forget_page()
                await self._check_home(sent)
            for work in endpoint.receives.ahead:
                await self._check_home(work)
        await self._ni.store(self._ni.nic.load(Word.SCRATCH), (0,))
        await self._ni.port.quiet()

    async def _check_home(self, one: Work | Unacknowledged | None) -> None:
        """Drop the status address of a descriptor whose memory is no longer registered."""
        if one is None or not one.home:
            return
        await self._ni.nic.work("look_home")
        if self._ni.nic.load(self._ni.layout.region(one.home)) != one.home:
            one.descriptor = one.home = 0
