"""An endpoint as a program uses it: handlers, translations, requests, and what comes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from firmware.host.am2.credits import Credits, SendQueue
from firmware.host.am2.driver import Driver, Granted
from firmware.host.am2.errors import Am2Error
from firmware.host.am2.frame import Frame
from firmware.host.am2.message import Data, EndpointName, Token
from firmware.host.am2.rescued import Rescued
from firmware.host.am2.tables import HANDLERS, Tables, check_tag, check_words
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

    def __init__(self, driver: Driver, bundle: Polls, granted: Granted, weight: int) -> None:
        self.process: Process = granted.process
        self.name = EndpointName(driver.me, granted.number)
        """Its global name."""
        self.handled = self.came_back = 0
        """Requests whose handlers have run; messages that were returned."""
        self._driver, self._bundle, self._granted, self._weight = driver, bundle, granted, weight
        self._frame = Frame(driver, granted)
        self._rescued = Rescued(self._frame)
        self._sends = {queue: SendQueue(queue) for queue in (Queue.REQUEST_SEND, Queue.REPLY_SEND)}
        self._credits = Credits(driver.options.credits)
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
        await self._driver.set_tag(self._granted, check_tag(self._who, tag), self._weight)

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

    # ---- out

    @property
    def unanswered(self) -> int:
        """Requests that are not answered, and have not come back."""
        return self._credits.out

    async def request(self, index: int, handler: int, *arguments: int) -> None:
        """AM_Request4, AM_Request8: the handler of an index runs at the endpoint of a translation. Waits, polling, for
        a credit; polls once in any case. Returns when the descriptor is the NIC's. Raises Am2Error.
        """
        await self._request(Kind.SHORT, index, handler, arguments, b"")

    async def request_i(self, index: int, handler: int, data: Data, *arguments: int) -> None:
        """AM_RequestI4, AM_RequestI8: the same, with payload by the staging areas. Raises Am2Error."""
        await self._request(Kind.MEDIUM, index, handler, arguments, data)

    async def _request(self, kind: Kind, index: int, handler: int, words: Sequence[int], data: Data) -> None:
        self._check_open()
        what = f"{self._who}: a request to translation {index!r}"
        if self._handling is not None:
            cause = f"the handler of a {self._handling.opcode} makes it"
            raise Am2Error(what, cause, "reply, or leave it to the program")
        where, tag = self._tables.translation(index)
        self._check(what, handler, words, data)
        send = self._sends[Queue.REQUEST_SEND]
        await self._bundle.until(lambda: self._credits.free(where), f"an answer of {where}", f"host {where.node}")
        while send.full or (data and send.block() is None):
            await self._frame.look_freed(send)
            await self._bundle.poll()  # what came back stands in its staging block until it is handled
        self._credits.take(where)
        await self._frame.post(send, "am2_request", Head(kind, len(words), handler), where, tag, words, data)
        await self._bundle.poll()

    async def reply(self, token: Token, kind: Kind, handler: int, words: tuple[int, ...], data: Data) -> None:
        """Answer a request: what `Token.reply` calls. Raises Am2Error."""
        self._check(f"{self._who}: a reply to {token.source}", handler, words, data)
        await self._answer(token, Head(kind, len(words), handler), words, data)

    async def _answer(self, token: Token, head: Head, words: Sequence[int], data: Data = b"") -> None:
        """Post into the queue of replies. Nobody polls while there is no room: what came back moves out of its way."""
        send = self._sends[Queue.REPLY_SEND]
        while send.full or (data and send.block() is None):
            if data and send.back:
                await self._frame.look_freed(send)
                await self._rescued.rescue(self, send, self._taken[1])
            else:
                await self._frame.wait_freed(send)
        tag = await self._frame.reply_tag(token)
        await self._frame.post(send, "am2_reply", head, token.source, tag, words, data)

    def _check(self, what: str, handler: int, words: Sequence[int], data: object) -> None:
        """Raises Am2Error for a message that cannot be."""
        check_words(what, words)
        if type(handler) is not int or not 0 < handler < HANDLERS:
            raise Am2Error(what, f"handler {handler!r}", f"give 1 to {HANDLERS - 1}", Code.BAD_HANDLER)
        most = self._driver.options.medium
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
        return count

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
        """The handler of a message; a request without an answer gets one that says nothing."""
        head = token.head
        if head.returned:
            self.came_back += 1
            if not token.is_reply:
                self._credits.give(token.source)
            await self._tables.handlers[RETURNED](token)
            return
        if token.is_reply:
            self._credits.give(token.source)
        if head.null:
            return
        flaw = self._flaw(head)
        if flaw is not Code.OK:
            code = Code.REPLY_REJECTED if token.is_reply else flaw
            await self._answer(token, head._replace(returned=True, null=True, code=code), token.arguments, token.data)
            return
        await self._tables.handlers[head.handler](token)
        if not token.is_reply:
            self.handled += 1
            if not token.replied:
                await self._answer(token, Head(Kind.SHORT, 0, RETURNED, null=True), ())

    def _flaw(self, head: Head) -> Code:
        """What the receiving library finds wrong with a message."""
        if head.arguments > 8 or head.kind not in (Kind.SHORT, Kind.MEDIUM):
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
