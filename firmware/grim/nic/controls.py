"""Dispatch of control messages: answers to messages, and notices of other NIs."""

from __future__ import annotations

from collections.abc import Awaitable

from firmware.grim.formats import MessageType, Words
from firmware.grim.nic.answers import Answers
from firmware.grim.nic.peers import Peers


class Controls:
    """Dispatcher of control messages."""

    def __init__(self, answers: Answers, peers: Peers) -> None:
        self._answers, self._peers = answers, peers

    def seen(self, head: Words) -> Awaitable[None]:
        """Pass a received control message to its handler."""
        if head.type == MessageType.SYNC:
            return self._peers.noticed(head)
        if head.type == MessageType.SYNC_ANSWER:
            return self._peers.confirmed(head)
        return self._answers.seen(head)
