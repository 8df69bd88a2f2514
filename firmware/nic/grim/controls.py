"""Control messages: answers to messages, and notices of other NIs."""

from __future__ import annotations

from firmware.nic.grim.answers import Answers
from firmware.nic.grim.peers import Peers
from pymodels.formats.grim import MessageType


class Controls:
    """Gives each to who takes it."""

    def __init__(self, answers: Answers, peers: Peers) -> None:
        self._answers, self._peers = answers, peers

    async def seen(self, key: int, w1: int) -> None:
        """A control message has arrived: its two words."""
        kind, peer = w1 >> 26, w1 >> 8 & 0xFF
        if kind == MessageType.SYNC:
            await self._peers.noticed(key, peer)
        elif kind == MessageType.SYNC_ANSWER:
            await self._peers.confirmed(key, peer)
        else:
            await self._answers.seen(key, w1)
