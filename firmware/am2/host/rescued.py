"""Payload of returned messages, copied out of the staging blocks from which it was sent.

A program that answers requests with payload may need a block again before it polls. A returned message that is not yet
handled may occupy the block. The library then copies the payload and frees the block.
"""

from __future__ import annotations

from firmware.am2.host.credits import NUMBERS, SendQueue
from firmware.am2.host.frame import Frame
from firmware.am2.host.message import Replies, Token
from firmware.am2.nic.words import Queue


class Rescued:
    """Copied payload of one endpoint, by number of the message in the reply queue."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._copies: dict[int, tuple[int, int]] = {}
        """Address and size of the copies, by number of the message."""

    async def rescue(self, endpoint: Replies, send: SendQueue, first: int) -> None:
        """Copy the payload of all returned messages of a queue; `first` is the next message to be handled."""
        _, told = await self._frame.arrived()
        for number in range(first, first + (told - first) % NUMBERS):
            if number not in self._copies:
                token = await self._frame.read(Queue.REPLY_RECEIVE, number, endpoint)
                if token.came_back and token.is_reply == (send.queue == Queue.REPLY_SEND):
                    self._copies[number] = await self._copied(token), token.size
                    send.taken_back += 1

    async def _copied(self, token: Token) -> int:
        if not token.size:
            return 0
        process = token.endpoint.process
        copy = process.allocate(token.size)
        await process.copy_memory("am2_copy", copy, token.va, token.size)
        return copy

    def redirect(self, token: Token) -> bool:
        """Return True for a message whose payload was copied, and make its token refer to the copy."""
        if token.index not in self._copies or not token.came_back:
            return False
        token.va, _ = self._copies[token.index]
        return True

    def done(self, token: Token) -> None:
        """Free the copy after the handler has run."""
        copy, size = self._copies.pop(token.index)
        if size:
            token.endpoint.process.free(copy, size)
