"""Control messages: answers to messages, and notices of other NIs."""

from __future__ import annotations

from collections.abc import Awaitable

from firmware.nic.grim.answers import Answers
from firmware.nic.grim.peers import Peers
from pymodels.formats.grim import MessageType


class Controls:
    """Gives each to who takes it."""

    def __init__(self, answers: Answers, peers: Peers) -> None:
        self._answers, self._peers = answers, peers

    def seen(self, key: int, w1: int) -> Awaitable[None]:
        """A control message has arrived: its two words."""
        kind, peer = w1 >> 26, w1 >> 8 & 0xFF
        if kind == MessageType.SYNC:
            return self._peers.noticed(key, peer)
        if kind == MessageType.SYNC_ANSWER:
            return self._peers.confirmed(key, peer)
        return self._answers.seen(key, w1)
