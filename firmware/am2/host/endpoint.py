"""An endpoint as a program uses it: handlers, translations, requests, and what comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from firmware.am2.host.credits import Credits, SendQueue
from firmware.am2.host.described import Described
from firmware.am2.host.driver import Driver
from firmware.am2.host.errors import Am2Error
from firmware.am2.host.frame import Frame
from firmware.am2.host.granted import Granted
from firmware.am2.host.handling import RETURNED, Incoming
from firmware.am2.host.message import Data, EndpointName, Token
from firmware.am2.host.segment import MOST
from firmware.am2.host.tables import HANDLERS, check_tag, check_words
from firmware.am2.host.transfer import Get, Piece, Put, Transfer, Transfers, cut, lacks
from firmware.am2.nic.words import Code, Head, Kind, Queue
from pymodels.host.process import Process


class Polls(Protocol):
    """What is needed of the bundle."""

    async def poll(self) -> int:
        """Handle what has come."""

    async def until(self, condition: Callable[[], bool], what: str = "", holder: str = "") -> None:
        """Poll until it holds."""


class Endpoint(Described):
    """Threads of its process use it as its bundle allows."""

    def __init__(self, driver: Driver, bundle: Polls, granted: Granted) -> None:
        self.process: Process = granted.process
        self.name = EndpointName(driver.me, granted.number)
        """Its global name."""
        self._driver, self._bundle, self._granted = driver, bundle, granted
        self._frame = Frame(driver, granted)
        self._sends = {queue: SendQueue(queue) for queue in (Queue.REQUEST_SEND, Queue.REPLY_SEND)}
        self._credits = Credits(driver.options.credits)
        super().__init__(self._who, self.process, self._returned)
        self._transfers = Transfers(self._frame, self._sends[Queue.REQUEST_SEND], self._credits)
        parts = self._sends, self._credits, self._transfers, self._tables, self._segment
        self._incoming = Incoming(self, driver, self._frame, *parts)
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
        when all of it is there, the handler runs, with the place and length of all of it. Waits, polling, until it
        needs `data` no more. Raises Am2Error.
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
        pieces = [Piece(offset + at, (own_offset + at, count), b"", count) for at, count in parts]
        got = [(own_offset + at, count) for at, count in parts]
        return await self._begin(Get(where, tag, handler, arguments, pieces, got))

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
        if (within := self._incoming.within) is not None:
            cause = f"the handler of a {within.opcode} makes it"
            raise Am2Error(what, cause, "reply, or leave it to the program")
        self._check(what, handler, words, data, most)
        return self._tables.translation(index)

    async def _request(self, kind: Kind, index: int, handler: int, words: Sequence[int], data: Data) -> None:
        what = f"a request to translation {index!r}"
        where, tag = self._asked(what, index, handler, words, data, self._driver.options.medium)
        send = self._sends[Queue.REQUEST_SEND]
        while True:  # another thread may take what has become free
            await self._bundle.until(lambda: self._credits.free(where), f"an answer of {where}", f"host {where.node}")
            if not lacks(send, data):
                break
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
        await self._incoming.answer(token, Head(kind, len(words), handler), words, data, offset)
        return True

    def _check(self, what: str, handler: int, words: Sequence[int], data: object, most: int) -> None:
        """Raises Am2Error for a message that cannot be."""
        check_words(what, words)
        if type(handler) is not int or not 0 < handler < HANDLERS:
            raise Am2Error(what, f"handler {handler!r}", f"give 1 to {HANDLERS - 1}", Code.BAD_HANDLER)
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) > most:
            raise Am2Error(what, f"data must be bytes, at most {most} of them", "send less", Code.BAD_LENGTH)

    # ---- in

    async def look(self) -> int:
        """Look once at what has come, and handle it; how many messages."""
        return await self._incoming.look()

    @property
    def handled(self) -> int:
        """Requests whose handlers have run."""
        return self._incoming.handled

    @property
    def came_back(self) -> int:
        """Messages that were returned."""
        return self._incoming.came_back

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
        return came != tuple(taken & 0xFFFF for taken in self._incoming.taken)

    async def come(self) -> None:
        """Spin on the word that tells of messages, until one has come."""
        requests, replies = (taken & 0xFFFF for taken in self._incoming.taken)
        await self._frame.spin(requests << 16 | replies)

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
        return self._incoming.handling is not None

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
