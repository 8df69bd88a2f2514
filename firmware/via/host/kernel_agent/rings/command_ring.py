"""Command ring: commands of the kernel agent to the NIC."""

from __future__ import annotations

from typing import Protocol

from firmware.verbs import Host
from firmware.via.host.kernel_agent.rings.cache import Cache, News
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.nic.layout import COMMAND_WORDS, Command, Word
from firmware.via.nic.words import CommandWord


class Addressee(Protocol):
    """VI that a command is for. Commands for no single VI are for VI 0."""

    number: int
    generation: int


class CommandRing:
    """Ring of words in the NIC's memory."""

    def __init__(self, host: Host, news: News | None) -> None:
        """Create the ring; `news` is called after each command."""
        counters = (int(Word.COMMAND_TAIL), int(Word.COMMAND_HEAD))
        self._host, self._lock = host, KernelLock(host)
        self._ring = Cache(host, Word.COMMANDS, COMMAND_WORDS, counters, 0, news)

    async def do(self, command: Command, vi: Addressee) -> None:
        """Execute a command on a VI, and wait for its end."""
        await self._ring.passed(await self.give(command, vi))

    async def give(self, command: Command, vi: Addressee) -> int:
        """Post a command without waiting, since the NIC may wait for the host. Return the ring position of its end."""
        return await self._give(CommandWord.encode(command, vi.number, vi.generation))

    async def set_queue(self, number: int) -> None:
        """Let the NIC read the words of a completion queue, and wait for the end."""
        await self._ring.passed(await self._give(CommandWord.encode(Command.QUEUE, number)))

    async def _give(self, given: CommandWord) -> int:
        async with self._lock:
            await self._host.spend("give_command")
            return await self._ring.append(given.word)
