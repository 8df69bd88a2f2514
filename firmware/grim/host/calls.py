"""The checks at the start of every call: whether GRIM is enabled, and errors that were reported since the last call."""

from __future__ import annotations

from collections import deque

from firmware.grim.host.errors import GrimError
from firmware.grim.host.messenger import Messenger


class Calls:
    """The state of one library between its calls."""

    def __init__(self) -> None:
        self.errors: deque[GrimError] = deque()
        """What went wrong behind the caller's back: raised by the next call."""
        self.enabling = False
        """`grim_enable` was called."""
        self._messenger: Messenger | None = None

    def enabled(self, messenger: Messenger) -> None:
        """`grim_enable` has completed."""
        self._messenger = messenger

    @property
    def messenger(self) -> Messenger:
        """Raises GrimError before `grim_enable` has completed."""
        if self._messenger is None:
            raise GrimError("grim_enable", "has not completed", "call and await it first")
        return self._messenger

    def ready(self) -> Messenger:
        """The messenger. Raises GrimError before `grim_enable`, or for an error reported since the last call."""
        messenger = self.messenger
        if self.errors:
            raise self.errors.popleft()
        return messenger

    async def begin(self) -> Messenger:
        """`ready`, for calls that may use the network: each polls once first (paper 000, 4.4.2)."""
        messenger = self.ready()
        await messenger.dispatch.poll_first()
        return messenger

    def may_wait(self, call: str) -> None:
        """Raises GrimError for a call that waits for messages and comes from a handler."""
        if self.ready().dispatch.in_handler:
            cause = "a handler has called it, and nothing is polled until that returns, so it would wait for ever"
            raise GrimError(call, cause, "set a flag in the handler and call it after grim_poll")
