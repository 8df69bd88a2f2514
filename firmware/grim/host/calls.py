"""Checks at the start of every call: GRIM is enabled, and no error was reported since the last call."""

from __future__ import annotations

from collections import deque

from firmware.grim.host.errors import GrimError
from firmware.grim.host.messenger import Messenger


class Calls:
    """State of one library between its calls."""

    def __init__(self) -> None:
        self.errors: deque[GrimError] = deque()
        """Asynchronous errors, raised by the next calls."""
        self.enabling = False
        """True once `grim_enable` was called."""
        self._messenger: Messenger | None = None

    def enabled(self, messenger: Messenger) -> None:
        """Record that `grim_enable` has completed."""
        self._messenger = messenger

    @property
    def messenger(self) -> Messenger:
        """Messenger of the enabled library. Raises GrimError before `grim_enable` has completed."""
        if self._messenger is None:
            raise GrimError("grim_enable", "has not completed", "call and await it first")
        return self._messenger

    def ready(self) -> Messenger:
        """Return the messenger. Raises GrimError before `grim_enable`, or for an error reported since the last call."""
        messenger = self.messenger
        if self.errors:
            raise self.errors.popleft()
        return messenger

    async def begin(self) -> Messenger:
        """Poll once and return the messenger, for calls that use the network (paper 000, 4.4.2). Raises GrimError."""
        messenger = self.ready()
        await messenger.dispatch.poll_first()
        return messenger

    def may_wait(self, call: str) -> None:
        """Raise GrimError if a call that waits for messages was made from a handler."""
        if self.ready().dispatch.in_handler:
            cause = "a handler cannot wait for messages, because polling stops until it returns"
            raise GrimError(call, cause, "set a flag in the handler and call it after grim_poll")
