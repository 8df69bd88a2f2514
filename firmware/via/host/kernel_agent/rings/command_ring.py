"""The command ring: what the kernel agent has the NIC do."""

from __future__ import annotations

from typing import Protocol

from firmware.verbs import Host
from firmware.via.host.kernel_agent.rings.cache import Cache, News
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.nic.layout import COMMAND_WORDS, Command, Word
from firmware.via.nic.words import CommandWord


class Addressee(Protocol):
    """The VI that a command is for. What is for no single one is for VI 0."""

    number: int
    generation: int


class CommandRing:
    """A ring of words in the NIC's memory."""

    def __init__(self, host: Host, news: News | None) -> None:
        """`news`: done behind each command."""
        counters = (int(Word.COMMAND_TAIL), int(Word.COMMAND_HEAD))
        self._host, self._lock = host, KernelLock(host)
        self._ring = Cache(host, Word.COMMANDS, COMMAND_WORDS, counters, 0, news)

    async def do(self, command: Command, vi: Addressee) -> None:
        """Have the NIC do something with a VI; returns when it has."""
        await self._ring.passed(await self.give(command, vi))

    async def give(self, command: Command, vi: Addressee) -> int:
        """The same without waiting: the NIC may wait for us. Up to where its queue is when it has."""
        return await self._give(CommandWord.of(command, vi.number, vi.generation))

    async def set_queue(self, number: int) -> None:
        """Have the NIC take the words of a completion queue; returns when it has."""
        await self._ring.passed(await self._give(CommandWord.of(Command.QUEUE, number)))

    async def _give(self, given: CommandWord) -> int:
        async with self._lock:
            await self._host.spend("give_command")
            return await self._ring.append(given.word)
