"""An endpoint as a program uses it: handlers, translations, requests, and what comes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from firmware.host.am2.credits import Credits, SendQueue
from firmware.host.am2.driver import Driver
from firmware.host.am2.errors import Am2Error
from firmware.host.am2.frame import Frame
from firmware.host.am2.granted import Granted
from firmware.host.am2.message import Data, EndpointName, Token
from firmware.host.am2.rescued import Rescued
from firmware.host.am2.segment import MOST, Segment
from firmware.host.am2.tables import HANDLERS, Tables, check_tag, check_words
from firmware.host.am2.transfer import Get, Piece, Put, Transfer, Transfers, cut, lacks
from firmware.nic.am2.words import Code, Head, Kind, Queue
from pymodels.host.process import Process
from pymodels.trace import TraceEvent

Handler = Callable[[Token], Coroutine[Any, Any, None]]
RETURNED = 0
"""Handler of returned messages (AM 2.0)."""


class Polls(Protocol):
    """What is needed of the bundle."""

    async def poll(self) -> int:
        """Handle what has come."""

    async def until(self, condition: Callable[[], bool], what: str = "", holder: str = "") -> None:
        """Poll until it holds."""


class Endpoint:
    """One thread of its process uses it at a time."""

    def __init__(self, driver: Driver, bundle: Polls, granted: Granted) -> None:
        self.process: Process = granted.process
        self.name = EndpointName(driver.me, granted.number)
        """Its global name."""
        self.handled = self.came_back = 0
        """Requests whose handlers have run; messages that were returned."""
        self._driver, self._bundle, self._granted = driver, bundle, granted
        self._frame = Frame(driver, granted)
        self._rescued = Rescued(self._frame)
        self._sends = {queue: SendQueue(queue) for queue in (Queue.REQUEST_SEND, Queue.REPLY_SEND)}
        self._credits = Credits(driver.options.credits)
        self._segment = Segment(self._who, self.process)
        self._transfers = Transfers(self._frame, self._sends[Queue.REQUEST_SEND], self._credits)
        self._tables: Tables[Handler] = Tables(self._who, self._returned)
        self._taken = [0, 0]
        """Requests and replies that were handled."""
        self._handling: Token | None = None
        self._open = True

    @property
    def _who(self) -> str:
        return f"{self.process.who}: endpoint {self.name.endpoint}"

    # ---- tables

    async def set_tag(self, tag: int) -> None:
        """AM_SetTag: messages must carry it from now on; NEVER and ALWAYS match none and any. Raises Am2Error."""
        self._check_open()
        await self._driver.set_tag(self._granted, check_tag(self._who, tag))

    @property
    def tag(self) -> int:
        """AM_GetTag."""
        return self._granted.tag

    def set_handler(self, index: int, handler: Handler) -> None:
        """AM_SetHandler; 0: of returned messages. Raises Am2Error."""
        self._tables.set_handler(index, handler)

    def set_handler_any(self, handler: Handler) -> int:
        """AM_SetHandlerAny: at the first free index, which is the result. Raises Am2Error."""
        return self._tables.set_handler_any(handler)

    def map(self, index: int, name: EndpointName, tag: int) -> None:
        """AM_Map: messages to `index` go to an endpoint, with a tag. Raises Am2Error."""
        self._tables.map(index, name, tag)

    def map_any(self, name: EndpointName, tag: int) -> int:
        """AM_MapAny: at the first free index, which is the result. Raises Am2Error."""
        return self._tables.map_any(name, tag)

    def unmap(self, index: int) -> None:
        """AM_Unmap. Raises Am2Error."""
        self._tables.unmap(index)

    def translation(self, index: int) -> tuple[EndpointName, int]:
        """AM_GetTranslationName, AM_GetTranslationTag: name and tag at an index. Raises Am2Error."""
        return self._tables.translation(index)

    def in_use(self, index: int) -> bool:
        """AM_GetTranslationInuse: whether there is a translation at an index. Raises Am2Error."""
        return self._tables.in_use(index)

    @property
    def handlers(self) -> int:
        """AM_GetNumHandlers: indices of the table, from 0 on."""
        return self._tables.most_handlers

    @property
    def translations(self) -> int:
        """AM_GetNumTranslations: indices of the table, from 0 on."""
        return self._tables.most_translations

    def set_handlers(self, count: int) -> None:
        """AM_SetNumHandlers: 1 to 256; those beyond are gone. Raises Am2Error."""
        self._tables.set_handlers(count)

    def set_translations(self, count: int) -> None:
        """AM_SetNumTranslations: 1 to 256; those beyond are gone. Raises Am2Error."""
        self._tables.set_translations(count)

    def set_segment(self, va: int, size: int) -> None:
        """AM_SetSeg: memory of the process for bulk data, from now on. Raises Am2Error."""
        self._segment.set(va, size)

    @property
    def segment(self) -> tuple[int, int]:
        """AM_GetSeg: its address and bytes."""
        return self._segment.va, self._segment.size

    def set_expected_resources(self, endpoints: int, outstanding: int) -> None:
        """AM_SetExpectedResources: to how many others it will send, and how many requests to each may be unanswered.
        Raises Am2Error, also when some are.
        """
        what = f"{self._who}: {outstanding!r} requests to each of {endpoints!r} endpoints"
        if not all(type(one) is int and one > 0 for one in (endpoints, outstanding)):
            raise Am2Error(what, "these are no numbers from 1 on", "give two")
        if self.unanswered or not self._credits.expect(outstanding):
            raise Am2Error(what, "too many, or requests are unanswered", "ask for 32 at most, before any request")

    # ---- out

    @property
    def unanswered(self) -> int:
        """Requests that are not answered, and have not come back; of bulk data each piece is one."""
        return self._credits.out + self._transfers.left

    async def request(self, index: int, handler: int, *arguments: int) -> None:
        """AM_Request4, AM_Request8: the handler of an index runs at the endpoint of a translation. Waits, polling, for
        a credit; polls once in any case. Returns when the descriptor is the NIC's. Raises Am2Error.
        """
        await self._request(Kind.SHORT, index, handler, arguments, b"")

    async def request_i(self, index: int, handler: int, data: Data, *arguments: int) -> None:
        """AM_RequestI4, AM_RequestI8: the same, with payload by the staging areas. Raises Am2Error."""
        await self._request(Kind.MEDIUM, index, handler, arguments, data)

    async def request_xfer(self, index: int, offset: int, handler: int, data: Data, *arguments: int) -> None:
        """AM_RequestXfer4, AM_RequestXfer8: data of any length to an offset of the segment of a translation's endpoint;
        when all of it is there, the handler runs. Waits, polling, until it needs `data` no more. Raises Am2Error.
        """
        transfer = await self.request_xfer_async(index, offset, handler, data, *arguments)
        await self._bundle.until(lambda: transfer.over, f"room for data to {transfer.where}")

    async def request_xfer_async(self, index: int, offset: int, handler: int, data: Data, *arguments: int) -> Transfer:
        """AM_RequestXferAsync4, AM_RequestXferAsync8: the same without waiting: further pieces leave when the program
        polls. `data` are not to be changed until the transfer is `over`. Raises Am2Error.
        """
        where, tag = self._asked(f"data to translation {index!r}", index, handler, arguments, data, MOST)
        self._check_place(f"data to translation {index!r}", offset, len(data))
        view, most = memoryview(data), self._driver.options.medium
        pieces = [Piece(offset + at, (), view[at : at + size], size) for at, size in cut(len(data), most)]
        return await self._begin(Put(where, tag, handler, arguments, pieces))

    async def get_xfer(
        self, index: int, offset: int, handler: int, own_offset: int, size: int, *arguments: int
    ) -> Transfer:
        """AM_GetXfer4, AM_GetXfer8: bytes at an offset of the segment of a translation's endpoint come to an offset of
        the own one; then the own handler runs, which may send nothing. Returns when it is asked for. Raises Am2Error.
        """
        what = f"data of translation {index!r}"
        where, tag = self._asked(what, index, handler, arguments, b"", MOST)
        self._check_place(what, offset, size)
        self._check_place(what, own_offset, size)
        flaw = self._segment.flaw(own_offset, size)
        if flaw is not Code.OK:
            cause = f"{size} bytes at {own_offset}, and the own segment has {self._segment.size}"
            raise Am2Error(f"{self._who}: {what}", cause, "give a place within it", flaw)
        if handler not in self._tables.handlers:
            raise Am2Error(f"{self._who}: {what}", f"no handler {handler}", "set it", Code.BAD_HANDLER)
        parts = cut(size, self._driver.options.medium)
        transfer = Get(
            where, tag, handler, arguments, [Piece(offset + a, (own_offset + a, n), b"", n) for a, n in parts]
        )
        transfer.got = [(own_offset + at, count) for at, count in parts]
        return await self._begin(transfer)

    def _check_place(self, what: str, offset: object, size: object) -> None:
        """Raises Am2Error for what no segment can have."""
        if type(offset) is not int or not 0 <= offset <= MOST:
            raise Am2Error(f"{self._who}: {what}", f"offset {offset!r}", "give a word", Code.BAD_SEGMENT_OFFSET)
        if type(size) is not int or not 0 <= size <= MOST - offset:
            raise Am2Error(f"{self._who}: {what}", f"{size!r} bytes at {offset}", "give fewer", Code.BAD_LENGTH)

    async def _begin(self, transfer: Transfer) -> Transfer:
        if not self._transfers.begin(transfer):
            cause = "255 transfers are under way"
            raise Am2Error(f"{self._who}: data to {transfer.where}", cause, "wait until one is over", Code.CONGESTION)
        await self._transfers.advance()
        await self._bundle.poll()
        return transfer

    def _asked(
        self, what: str, index: int, handler: int, words: Sequence[int], data: Data, most: int
    ) -> tuple[EndpointName, int]:
        """To whom a request goes, and with what tag. Raises Am2Error."""
        self._check_open()
        what = f"{self._who}: {what}"
        if self._handling is not None:
            cause = f"the handler of a {self._handling.opcode} makes it"
            raise Am2Error(what, cause, "reply, or leave it to the program")
        self._check(what, handler, words, data, most)
        return self._tables.translation(index)

    async def _request(self, kind: Kind, index: int, handler: int, words: Sequence[int], data: Data) -> None:
        what = f"a request to translation {index!r}"
        where, tag = self._asked(what, index, handler, words, data, self._driver.options.medium)
        send = self._sends[Queue.REQUEST_SEND]
        await self._bundle.until(lambda: self._credits.free(where), f"an answer of {where}", f"host {where.node}")
        while lacks(send, data):
            await self._frame.look_freed(send)
            await self._bundle.poll()  # what came back stands in its staging block until it is handled
        self._credits.take(where)
        await self._frame.post(send, "am2_request", Head(kind, len(words), handler), where, tag, words, data)
        await self._bundle.poll()

    async def reply(
        self, token: Token, kind: Kind, handler: int, words: tuple[int, ...], data: Data, offset: int, wait: bool
    ) -> bool:
        """Answer a request: what `Token.reply` calls. Raises Am2Error."""
        what = f"a reply to {token.source}"
        self._check(f"{self._who}: {what}", handler, words, data, self._driver.options.medium)
        self._check_place(what, offset, len(data))
        send = self._sends[Queue.REPLY_SEND]
        if not wait and lacks(send, data):
            await self._frame.look_freed(send)
            if lacks(send, data):
                return False
        await self._answer(token, Head(kind, len(words), handler), words, data, offset)
        return True

    async def _answer(self, token: Token, head: Head, words: Sequence[int], data: Data = b"", offset: int = 0) -> None:
        """Post into the queue of replies. Nobody polls while there is no room: what came back moves out of its way."""
        send = self._sends[Queue.REPLY_SEND]
        while lacks(send, data):
            if data and send.back:
                await self._frame.look_freed(send)
                await self._rescued.rescue(self, send, self._taken[1])
            else:
                await self._frame.wait_freed(send)
        tag = await self._frame.reply_tag(token)
        await self._frame.post(send, "am2_reply", head, token.source, tag, words, data, offset)

    def _check(self, what: str, handler: int, words: Sequence[int], data: object, most: int) -> None:
        """Raises Am2Error for a message that cannot be."""
        check_words(what, words)
        if type(handler) is not int or not 0 < handler < HANDLERS:
            raise Am2Error(what, f"handler {handler!r}", f"give 1 to {HANDLERS - 1}", Code.BAD_HANDLER)
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) > most:
            raise Am2Error(what, f"its data are no more than {most} bytes", "cut them", Code.BAD_LENGTH)

    # ---- in

    async def look(self) -> int:
        """Look once at what has come, and handle it; how many messages."""
        came, count = await self._frame.arrived(), 0
        for queue in (Queue.REPLY_RECEIVE, Queue.REQUEST_RECEIVE):
            which = queue - Queue.REQUEST_RECEIVE
            while self._taken[which] & 0xFFFF != came[which]:
                await self._take(queue, self._taken[which])
                self._taken[which] += 1
                count += 1
        await self._transfers.advance()
        return count

    @property
    def starved(self) -> bool:
        """Bulk data wait for room in a queue, and not for a message."""
        return self._transfers.starved

    async def arm(self) -> None:
        """Let the next message interrupt, unless it does already."""
        if not self.armed:
            await self._driver.arm(self._granted)

    @property
    def armed(self) -> bool:
        """The next message interrupts, and none has since."""
        return self._granted.asleep

    async def has_come(self) -> bool:
        """Look once whether a message has; bulk data that wait for room go on where there is some."""
        came = await self._frame.arrived()
        if self.starved:
            await self._transfers.advance()
        return came != tuple(taken & 0xFFFF for taken in self._taken)

    async def come(self) -> None:
        """Spin on the word that tells of messages, until one has come."""
        requests, replies = (taken & 0xFFFF for taken in self._taken)
        await self._frame.spin(requests << 16 | replies)

    async def _take(self, queue: Queue, number: int) -> None:
        """The next message of a queue."""
        token = await self._frame.read(queue, number, self)
        name, host = self._frame.called, self._driver.host
        rescued = queue == Queue.REPLY_RECEIVE and self._rescued.of(token)
        if not token.head.returned:
            host.trace(TraceEvent.HANDLER_START, name, token.head.handler, token.source.node)
        self._handling = token
        try:
            await self._run(token)
            if not token.head.returned:
                host.trace(TraceEvent.HANDLER_END, name, token.head.handler, token.source.node)
        finally:
            self._handling = None
        if rescued:
            self._rescued.done(token)
        elif token.came_back:
            self._sends[Queue.REPLY_SEND if token.is_reply else Queue.REQUEST_SEND].taken_back += 1
        await self._frame.release(queue, number)

    async def _run(self, token: Token) -> None:
        """What becomes of a message."""
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
        elif (flaw := self._flaw(token, transfer)) is not Code.OK:
            head = head._replace(returned=True, null=True, code=Code.REPLY_REJECTED if token.is_reply else flaw)
            await self._answer(token, head, token.arguments, token.data, token.offset)
        else:
            await self._handle(token, transfer)

    async def _handle(self, token: Token, transfer: Transfer | None) -> None:
        """The handler of a message; a request without an answer gets one that says nothing."""
        if token.head.kind == Kind.BULK:
            await self._segment.take(token.offset, token.va, token.size)
            token.va = self._segment.va + token.offset
        if transfer:
            await self._got(token, transfer)
        elif token.head.transfer:
            await self._serve(token)
        else:
            await self._tables.handlers[token.head.handler](token)
            if not token.is_reply:
                self.handled += 1
                if not token.replied:
                    await self._answer(token, Head(Kind.SHORT, 0, RETURNED, null=True), ())

    async def _got(self, token: Token, transfer: Transfer) -> None:
        """A piece of what was asked for; behind the last one the handler runs."""
        transfer.got.remove((token.offset, token.size))
        self._transfers.answered(transfer)
        if transfer.over and not transfer.failed:
            token.arguments = transfer.words
            await self._tables.handlers[transfer.handler](token)

    async def _serve(self, token: Token) -> None:
        """A piece that names no handler: it is answered, with data of the segment if it asks for them."""
        number = token.head.transfer
        if token.head.kind == Kind.GET:
            where, size = token.arguments
            data, head = self._segment.bytes(token.offset, size), Head(Kind.BULK, 0, RETURNED, transfer=number)
            await self._answer(token, head, (), data, where)
        else:
            await self._answer(token, Head(Kind.SHORT, 0, RETURNED, null=True, transfer=number), ())

    def _flaw(self, token: Token, transfer: Transfer | None) -> Code:
        """What the receiving library finds wrong with a message."""
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
        if head.kind == Kind.BULK:
            flaw = self._segment.flaw(token.offset, token.size)
            if flaw is not Code.OK or (head.transfer and not token.is_reply):
                return flaw
        elif head.transfer:
            return Code.BAD_ARGUMENTS
        return Code.OK if head.handler != RETURNED and head.handler in self._tables.handlers else Code.BAD_HANDLER

    async def _returned(self, token: Token) -> None:
        """The handler of returned messages, until the program sets one."""
        what = f"{self._who}: a {token.opcode} to {token.source} came back"
        cause = token.status.name.lower().replace("_", " ")
        raise Am2Error(what, cause, f"set handler {RETURNED}", token.status)

    # ---- end

    async def free(self) -> None:
        """AM_FreeEndpoint: what is in flight is lost to it. Raises Am2Error."""
        self._check_open()
        self._open = False
        await self._driver.free(self._granted)

    @property
    def handling(self) -> bool:
        """One of its handlers runs."""
        return self._handling is not None

    def moved(self, bundle: Polls) -> None:
        """It belongs to another bundle."""
        self._bundle = bundle

    @property
    def is_open(self) -> bool:
        """It was not freed."""
        return self._open

    def _check_open(self) -> None:
        if not self._open:
            raise Am2Error(self._who, "it was freed", "allocate another one", Code.BAD_ENDPOINT)
