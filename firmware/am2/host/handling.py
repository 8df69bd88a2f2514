"""Received messages of an endpoint: read, checked, handled and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firmware.am2.host.credits import Credits, SendQueue
from firmware.am2.host.driver import Driver
from firmware.am2.host.frame import Frame
from firmware.am2.host.message import Data, Replies, Token
from firmware.am2.host.rescued import Rescued
from firmware.am2.host.segment import Segment
from firmware.am2.host.tables import Tables
from firmware.am2.host.transfer import Transfer, Transfers, lacks
from firmware.am2.nic.words import Code, Head, Kind, Queue
from pymodels.trace import TraceEvent

RETURNED = 0
"""Index of the handler of returned messages (AM 2.0)."""


class Incoming:
    """Received messages of one endpoint."""

    def __init__(
        self,
        endpoint: Replies,
        driver: Driver,
        frame: Frame,
        sends: Mapping[Queue, SendQueue],
        allowed: Credits,
        transfers: Transfers,
        tables: Tables[Any],
        segment: Segment,
    ) -> None:
        self._endpoint, self._driver, self._frame, self._sends = endpoint, driver, frame, sends
        self._credits, self._transfers, self._tables, self._segment = allowed, transfers, tables, segment
        self._rescued = Rescued(frame)
        self.taken = [0, 0]
        """Numbers of handled requests and replies."""
        self.handling: Token | None = None
        """Message whose handler is running, or None."""
        self._runner: object = None
        """Task that runs the handler."""
        self.handled = self.came_back = 0
        """Numbers of requests whose handlers have run, and of returned messages."""

    @property
    def within(self) -> Token | None:
        """Message in whose handler the calling task is, or None."""
        return self.handling if self._runner is self._task else None

    @property
    def _task(self) -> object:
        return self._endpoint.process.host.scheduler.kernel.current

    async def look(self) -> int:
        """Check once for messages, handle them, and return their number."""
        came, count = await self._frame.arrived(), 0
        for queue in (Queue.REPLY_RECEIVE, Queue.REQUEST_RECEIVE):
            which = queue - Queue.REQUEST_RECEIVE
            while self.taken[which] & 0xFFFF != came[which]:
                await self._take(queue, self.taken[which])
                self.taken[which] += 1
                count += 1
        await self._transfers.advance()
        return count

    async def _take(self, queue: Queue, number: int) -> None:
        """Handle the next message of a queue."""
        token = await self._frame.read(queue, number, self._endpoint)
        name, message, host = self._frame.called, self._frame.message, self._driver.host
        rescued = queue == Queue.REPLY_RECEIVE and self._rescued.redirect(token)
        if not token.head.returned:
            host.trace(TraceEvent.HANDLER_START, name, token.head.handler, token.source.node, message=message)
        self.handling, self._runner = token, self._task
        try:
            await self._run(token)
            if not token.head.returned:
                host.trace(TraceEvent.HANDLER_END, name, token.head.handler, token.source.node, message=message)
        finally:
            self.handling = None
        if rescued:
            self._rescued.done(token)
        elif token.came_back:
            self._sends[Queue.REPLY_SEND if token.is_reply else Queue.REQUEST_SEND].taken_back += 1
        await self._frame.release(queue, number)

    async def _run(self, token: Token) -> None:
        """Handle, return or account for a message."""
        head = token.head
        if head.returned:
            self.came_back += 1
            if not token.is_reply:
                self._credits.give(token.source)
                self._transfers.came_back(token)
            await self._tables.handlers[RETURNED](token)
            return
        transfer = None
        if token.is_reply:
            self._credits.give(token.source)
            transfer = self._transfers.find(head.transfer, token.source)
        if head.null:
            self._transfers.answered(transfer)
        elif (flaw := self._error_of(token, transfer)) is not Code.OK:
            head = head._replace(returned=True, null=True, code=Code.REPLY_REJECTED if token.is_reply else flaw)
            await self.answer(token, head, token.arguments, token.data, token.offset)
        else:
            await self._handle(token, transfer)

    async def _handle(self, token: Token, transfer: Transfer | None) -> None:
        """Run the handler of a message. A request without a reply gets a null reply."""
        kind = token.head.kind
        if kind in (Kind.BULK, Kind.PIECE):
            await self._segment.take(token.offset, token.va, token.size)
        if transfer:
            await self._got(token, transfer)
        elif kind in (Kind.GET, Kind.PIECE):
            await self._serve(token)
        else:
            if kind == Kind.BULK:
                self._segment.ended(token)
            await self._tables.handlers[token.head.handler](token)
            if not token.is_reply:
                self.handled += 1
                if not token.replied:
                    await self.answer(token, Head(Kind.SHORT, 0, RETURNED, null=True), ())

    async def _got(self, token: Token, transfer: Transfer) -> None:
        """Handle a piece of requested data. After the last piece, run the handler with all data."""
        transfer.got.remove((token.offset, token.size))
        self._transfers.answered(transfer)
        if transfer.over and not transfer.failed:
            token.arguments, token.offset, token.size = transfer.words, transfer.begin, transfer.size
            token.va = self._segment.va + token.offset
            await self._tables.handlers[transfer.handler](token)

    async def _serve(self, token: Token) -> None:
        """Answer a piece that names no handler, with data of the segment if it is a request for them."""
        number = token.head.transfer
        if token.head.kind == Kind.GET:
            where, size = token.arguments
            data, head = self._segment.bytes(token.offset, size), Head(Kind.BULK, 0, RETURNED, transfer=number)
            await self.answer(token, head, (), data, where)
        else:
            if token.head.handler:
                self._segment.begins(token)
            await self.answer(token, Head(Kind.SHORT, 0, RETURNED, null=True, transfer=number), ())

    def _error_of(self, token: Token, transfer: Transfer | None) -> Code:
        """Return the error code of a message, or OK."""
        head = token.head
        if head.arguments > 8 or head.kind not in tuple(Kind):
            return Code.BAD_ARGUMENTS
        if head.kind == Kind.GET:
            if head.arguments != 2 or token.is_reply or not head.transfer:
                return Code.BAD_ARGUMENTS
            size = token.arguments[1]
            return Code.BAD_LENGTH if size > self._driver.options.medium else self._segment.flaw(token.offset, size)
        if transfer:
            there = head.kind == Kind.BULK and (token.offset, token.size) in transfer.got
            return self._segment.flaw(token.offset, token.size) if there else Code.BAD_SEGMENT_OFFSET
        if head.kind in (Kind.BULK, Kind.PIECE):
            flaw = self._segment.flaw(token.offset, token.size)
            if flaw is Code.OK and (head.kind == Kind.PIECE or not token.is_reply):
                flaw = self._error_of_transfer(token)
            if flaw is not Code.OK or head.kind == Kind.PIECE:
                return flaw
        elif head.transfer:
            return Code.BAD_ARGUMENTS
        return Code.OK if head.handler != RETURNED and head.handler in self._tables.handlers else Code.BAD_HANDLER

    def _error_of_transfer(self, token: Token) -> Code:
        """Return OK if a piece belongs to a transfer: it has a number, and the transfer has begun if it is the last."""
        if token.head.kind == Kind.PIECE:
            belongs = bool(token.head.transfer) and not token.is_reply
        else:
            belongs = self._segment.begin(token) is not None
        return Code.OK if belongs else Code.BAD_ARGUMENTS

    async def answer(self, token: Token, head: Head, words: Sequence[int], data: Data = b"", offset: int = 0) -> None:
        """Post into the reply queue. While it is full, do not poll, but copy returned messages out of its blocks."""
        send = self._sends[Queue.REPLY_SEND]
        while lacks(send, data):
            if data and send.back:
                await self._frame.look_freed(send)
                await self._rescued.rescue(self._endpoint, send, self.taken[1])
            else:
                await self._frame.wait_freed(send)
        tag = await self._frame.reply_tag(token)
        await self._frame.post(send, "am2_reply", head, token.source, tag, words, data, offset)
