"""What the kernel wants of the NIC: a ring of command words."""

from __future__ import annotations

from firmware.nic.via.breaking import Breaking
from firmware.nic.via.layout import COMMAND_WORDS, Command, State, Word
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.ring import Ring
from pymodels.formats.via import Kind, Status

VERDICTS = {Command.FLUSH: Status.FLUSHED, Command.BREAK: Status.TRANSPORT_ERROR}


class Commands:
    """Serves the command ring."""

    def __init__(self, ni: Ni, breaking: Breaking) -> None:
        self._ni, self._breaking = ni, breaking
        self._ring = Ring(ni.nic, Word.COMMANDS, COMMAND_WORDS, Word.COMMAND_TAIL, Word.COMMAND_HEAD)

    async def given(self) -> None:
        """There are new commands."""
        while self._ring.ready:
            await self._ni.nic.work("command")
            command, number = divmod(self._ring.take(1)[0], 1 << 16)
            await self._do(Command(command), self._ni.endpoints[number])
            self._ring.free()

    async def _do(self, command: Command, endpoint: Endpoint) -> None:
        """One command."""
        connected = endpoint.state() is State.CONNECTED
        if command in VERDICTS:
            self._ni.nic.store(endpoint.words, endpoint.generation << 8 | State.ERROR)
            await self._breaking.flush(endpoint, VERDICTS[command])
        elif connected and command == Command.CONFIRM:
            await self._breaking.confirm(endpoint)
        elif connected and endpoint.reliable:
            await self._breaking.refuse(endpoint, Kind.NOT_ALLOWED)
