"""Endpoint of a program: handlers, translations, requests, and received messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from firmware.am2.host.credits import Credits, SendQueue
from firmware.am2.host.driver import Driver
from firmware.am2.host.endpoint_tables import EndpointTables
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
    """Interface of the bundle that an endpoint uses."""

    async def poll(self) -> int:
        """Handle all received messages, and return their number."""

    async def until(self, condition: Callable[[], bool], what: str = "", holder: str = "") -> None:
        """Poll until a condition is true."""


class Endpoint(EndpointTables):
    """Endpoint. Its bundle determines which threads of the process may use it."""

    def __init__(self, driver: Driver, bundle: Polls, granted: Granted) -> None:
        self.process: Process = granted.process
        self.name = EndpointName(driver.me, granted.number)
        """Global name."""
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
        """Set the tag that messages must carry (AM_SetTag). NEVER accepts none, ALWAYS all. Raises Am2Error."""
        self._check_open()
        await self._driver.set_tag(self._granted, check_tag(self._who, tag))

    @property
    def tag(self) -> int:
        """Tag (AM_GetTag)."""
        return self._granted.tag

    def set_expected_resources(self, endpoints: int, outstanding: int) -> None:
        """Set the number of unanswered requests for each destination (AM_SetExpectedResources).

        Args:
            endpoints: Number of destinations.
            outstanding: Number of unanswered requests to each, at most 32.

        Raises:
            Am2Error: A value is invalid, or requests are unanswered.
        """
        what = f"{self._who}: {outstanding!r} requests to each of {endpoints!r} endpoints"
        if not all(type(one) is int and one > 0 for one in (endpoints, outstanding)):
            raise Am2Error(what, "invalid numbers", "give two integers from 1 on")
        if self.unanswered or not self._credits.expect(outstanding):
            raise Am2Error(what, "too many, or requests are unanswered", "give 32 at most, before any request")

    # ---- out

    @property
    def unanswered(self) -> int:
        """Number of requests that are neither answered nor returned. Each piece of bulk data counts."""
        return self._credits.out + self._transfers.left

    async def request(self, index: int, handler: int, *arguments: int) -> None:
        """Send a short request (AM_Request4, AM_Request8). Raises Am2Error.

        Polls while it waits for a credit, and once in any case. Returns when the NIC has the descriptor.

        Args:
            index: Translation of the destination.
            handler: Index of the handler at the destination.
            arguments: Up to 8 words.
        """
        await self._request(Kind.SHORT, index, handler, arguments, b"")

    async def request_i(self, index: int, handler: int, data: Data, *arguments: int) -> None:
        """Send a medium request, with payload through the staging areas (AM_RequestI4, AM_RequestI8). Raises Am2Error.

        Args:
            index: Translation of the destination.
            handler: Index of the handler at the destination.
            data: Payload of at most one staging block.
            arguments: Up to 8 words.
        """
        await self._request(Kind.MEDIUM, index, handler, arguments, data)

    async def request_xfer(self, index: int, offset: int, handler: int, data: Data, *arguments: int) -> None:
        """Send bulk data into the destination's segment (AM_RequestXfer4, AM_RequestXfer8). Raises Am2Error.

        Polls until `data` may be changed. The handler runs when all data have arrived, with their place and size.

        Args:
            index: Translation of the destination.
            offset: Offset in the destination's segment.
            handler: Index of the handler at the destination.
            data: Bytes of any length.
            arguments: Up to 8 words.
        """
        transfer = await self.request_xfer_async(index, offset, handler, data, *arguments)
        await self._bundle.until(lambda: transfer.over, f"room for data to {transfer.where}")

    async def request_xfer_async(self, index: int, offset: int, handler: int, data: Data, *arguments: int) -> Transfer:
        """Start sending bulk data (AM_RequestXferAsync4, AM_RequestXferAsync8). Raises Am2Error.

        Arguments are those of `request_xfer`. Further pieces are sent when the program polls. `data` must not be
        changed until the returned transfer is `over`.
        """
        where, tag = self._asked(f"data to translation {index!r}", index, handler, arguments, data, MOST)
        self._check_place(f"data to translation {index!r}", offset, len(data))
        view, most = memoryview(data), self._driver.options.medium
        pieces = [Piece(offset + at, (), view[at : at + size], size) for at, size in cut(len(data), most)]
        return await self._begin(Put(where, tag, handler, arguments, pieces))

    async def get_xfer(
        self, index: int, offset: int, handler: int, own_offset: int, size: int, *arguments: int
    ) -> Transfer:
        """Request bytes of another endpoint's segment (AM_GetXfer4, AM_GetXfer8). Raises Am2Error.

        Returns once the request is sent.

        Args:
            index: Translation of the other endpoint.
            offset: Offset in its segment.
            handler: Index of the own handler that runs when all bytes have arrived. It must not send.
            own_offset: Offset in the own segment.
            size: Number of bytes.
            arguments: Up to 8 words for the handler.
        """
        what = f"data of translation {index!r}"
        where, tag = self._asked(what, index, handler, arguments, b"", MOST)
        self._check_place(what, offset, size)
        self._check_place(what, own_offset, size)
        flaw = self._segment.flaw(own_offset, size)
        if flaw is not Code.OK:
            cause = f"{size} bytes at {own_offset}, but the own segment has {self._segment.size} bytes"
            raise Am2Error(f"{self._who}: {what}", cause, "give a place within it", flaw)
        if handler not in self._tables.handlers:
            raise Am2Error(f"{self._who}: {what}", f"no handler {handler}", "set the handler first", Code.BAD_HANDLER)
        parts = cut(size, self._driver.options.medium)
        pieces = [Piece(offset + at, (own_offset + at, count), b"", count) for at, count in parts]
        got = [(own_offset + at, count) for at, count in parts]
        return await self._begin(Get(where, tag, handler, arguments, pieces, got))

    def _check_place(self, what: str, offset: object, size: object) -> None:
        """Raise Am2Error for an offset or size that no segment can have."""
        if type(offset) is not int or not 0 <= offset <= MOST:
            raise Am2Error(
                f"{self._who}: {what}",
                f"offset {offset!r}",
                "give an integer from 0 to 2**32 - 1",
                Code.BAD_SEGMENT_OFFSET,
            )
        if type(size) is not int or not 0 <= size <= MOST - offset:
            raise Am2Error(f"{self._who}: {what}", f"{size!r} bytes at {offset}", "give fewer", Code.BAD_LENGTH)

    async def _begin(self, transfer: Transfer) -> Transfer:
        if not self._transfers.begin(transfer):
            cause = "255 transfers are in progress"
            raise Am2Error(f"{self._who}: data to {transfer.where}", cause, "wait for the end of one", Code.CONGESTION)
        await self._transfers.advance()
        await self._bundle.poll()
        return transfer

    def _asked(
        self, what: str, index: int, handler: int, words: Sequence[int], data: Data, most: int
    ) -> tuple[EndpointName, int]:
        """Return destination and tag of a request. Raises Am2Error."""
        self._check_open()
        what = f"{self._who}: {what}"
        if (within := self._incoming.within) is not None:
            cause = f"the handler of a {within.opcode} makes it"
            raise Am2Error(what, cause, "reply instead, or request outside of handlers")
        self._check(what, handler, words, data, most)
        return self._tables.translation(index)

    async def _request(self, kind: Kind, index: int, handler: int, words: Sequence[int], data: Data) -> None:
        what = f"a request to translation {index!r}"
        where, tag = self._asked(what, index, handler, words, data, self._driver.options.medium)
        send = self._sends[Queue.REQUEST_SEND]
        while True:  # another thread may take the freed resource
            await self._bundle.until(lambda: self._credits.free(where), f"an answer of {where}", f"host {where.node}")
            if not lacks(send, data):
                break
            await self._frame.look_freed(send)
            await self._bundle.poll()  # handles returned messages, which occupy staging blocks
        self._credits.take(where)
        await self._frame.post(send, "am2_request", Head(kind, len(words), handler), where, tag, words, data)
        await self._bundle.poll()

    async def reply(
        self, token: Token, kind: Kind, handler: int, words: tuple[int, ...], data: Data, offset: int, wait: bool
    ) -> bool:
        """Post a reply for `Token.reply`. Return False if there is no room and `wait` is false. Raises Am2Error."""
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
        """Raise Am2Error for a message that cannot be sent."""
        check_words(what, words)
        if type(handler) is not int or not 0 < handler < HANDLERS:
            raise Am2Error(what, f"handler {handler!r}", f"give 1 to {HANDLERS - 1}", Code.BAD_HANDLER)
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) > most:
            raise Am2Error(what, f"data must be bytes, at most {most} of them", "send less", Code.BAD_LENGTH)

    # ---- in

    async def look(self) -> int:
        """Check once for messages, handle them, and return their number."""
        return await self._incoming.look()

    @property
    def handled(self) -> int:
        """Number of requests whose handlers have run."""
        return self._incoming.handled

    @property
    def came_back(self) -> int:
        """Number of returned messages."""
        return self._incoming.came_back

    @property
    def starved(self) -> bool:
        """True if bulk data wait for room in a send queue."""
        return self._transfers.starved

    async def arm(self) -> None:
        """Request an interrupt for the next message, unless one is requested."""
        if not self.armed:
            await self._driver.arm(self._granted)

    @property
    def armed(self) -> bool:
        """True if an interrupt is requested and has not occurred."""
        return self._granted.asleep

    async def has_message(self) -> bool:
        """Check once whether a message has arrived, and continue bulk data that wait for room."""
        came = await self._frame.arrived()
        if self.starved:
            await self._transfers.advance()
        return came != tuple(taken & 0xFFFF for taken in self._incoming.taken)

    async def spin_for_message(self) -> None:
        """Spin on the word that counts messages until one has arrived."""
        requests, replies = (taken & 0xFFFF for taken in self._incoming.taken)
        await self._frame.spin(requests << 16 | replies)

    async def _returned(self, token: Token) -> None:
        """Raise Am2Error for a returned message: default of handler 0."""
        what = f"{self._who}: returned {token.opcode} to {token.source}"
        cause = token.status.name.lower().replace("_", " ")
        raise Am2Error(what, cause, f"set handler {RETURNED} to handle returned messages", token.status)

    # ---- end

    async def free(self) -> None:
        """Free the endpoint; its messages in flight are abandoned (AM_FreeEndpoint). Raises Am2Error."""
        self._check_open()
        self._open = False
        await self._driver.free(self._granted)

    @property
    def handling(self) -> bool:
        """True while one of its handlers runs."""
        return self._incoming.handling is not None

    def moved(self, bundle: Polls) -> None:
        """Record the new bundle of the endpoint."""
        self._bundle = bundle

    @property
    def is_open(self) -> bool:
        """True until the endpoint is freed."""
        return self._open

    def _check_open(self) -> None:
        if not self._open:
            raise Am2Error(self._who, "already freed", "allocate another endpoint", Code.BAD_ENDPOINT)
