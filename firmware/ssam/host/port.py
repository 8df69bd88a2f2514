"""SSAM as a process uses it: requests, replies, polling. Every call that sends or polls traps into the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack

from firmware.common.host.code_image import CodeImage
from firmware.common.host.lock import Lock
from firmware.common.host.request_reply import NOBODY, Handler, Kind, Rules, size_of
from firmware.common.host.request_reply import Call as AnyCall
from firmware.ssam.host.area import Area
from firmware.ssam.host.errors import SsamError
from firmware.ssam.host.kernel import SsamKernel
from firmware.ssam.host.message import ARGUMENTS, FORMAT, MOST, Header
from pymodels.trace import TraceEvent

Call = AnyCall[Header]


class Port:
    """The device as a process has opened it."""

    def __init__(self, kernel: SsamKernel, area: Area, image: CodeImage[Handler], requests: int) -> None:
        self.area, self.process, self._kernel = area, area.process, kernel
        self.rules = Rules(area.process.who, SsamError, kernel.partners, image, ARGUMENTS, MOST)
        self._requests = requests
        self._open = dict.fromkeys(kernel.partners, 0)
        """By node: requests that are not answered."""
        self._taken = 0
        self._handling: Call | None = None
        self._walker: object = None
        """The task that runs handlers."""
        self._writing = Lock(kernel.host, "the slot of the next message")
        self._closed = False
        self.handled = 0
        """Requests whose handlers have run, and that are answered."""
        self.polls = 0
        """Calls of `poll`, by the application or a wait."""

    async def request(self, node: int, handler: Handler, *arguments: int, data: bytes = b"") -> None:
        """Send a request: its handler runs at the node, which answers it. Waits, polling, while too many are not
        answered. Raises SsamError, ImageError.
        """
        if self._handling is not None and self._walker is self._task:
            self.rules.refuse_within(self._handling.kind, node)
        address = self.rules.image.address(handler)
        self.check(node, arguments, data)
        await self.until(lambda: self._open[node] < self._requests, f"an answer of node {node}", f"host {node}")
        self._open[node] += 1
        await self._send(Kind.REQUEST, node, address, arguments, data)

    async def poll(self) -> int:
        """Have the kernel look, and run the handlers of what has come; how many."""
        self._check_open()
        self.polls += 1
        return await self._look()

    async def _look(self) -> int:
        await self._kernel.poll(self.area)
        return 0 if self._walker else await self._walk()

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until it holds. `what` and its `holder` are what a hang report says of the wait."""
        waits, who = self._kernel.host.waits, self.process.who
        if condition():
            return
        waits.want(who, what, holder)
        while not condition():
            if not await self.poll():
                await self.process.give_way()
        waits.got(who, what)

    async def close(self) -> None:
        """Close the device. Raises SsamError while requests are not answered."""
        self._check_open()
        if self.unanswered:
            waiting = ", ".join(f"node {node}" for node, count in self._open.items() if count)
            raise SsamError(f"{self.process.who}: closing SSAM", f"requests to {waiting} are not answered", "wait")
        self._closed = True
        await self._kernel.close(self.area)

    @property
    def unanswered(self) -> int:
        """Requests that are not answered."""
        return sum(self._open.values())

    # ---- what both kinds of message need

    def _check_open(self) -> None:
        if self._closed:
            raise SsamError(f"{self.process.who}: SSAM", "it is closed", "open it again")

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Raises SsamError for a message that cannot be sent."""
        self._check_open()
        self.rules.check(node, arguments, size_of(data))

    async def answer(self, call: Call, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """The reply to a request; `handler`: its address."""
        await self._send(Kind.REPLY, call.source, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Bytes of the process."""
        return self.process.load_bytes(address, size)

    async def _send(self, kind: Kind, node: int, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Write a message into the next slot, and trap; then poll, as after every message."""
        process, kernel = self.process, self._kernel
        async with self._writing:
            send = kernel.next_send()
            kernel.host.trace(TraceEvent.SEND_CALL, 0, len(data), send)
            offset = self.area.next_slot()
            header = Header(self.area.key, handler, kernel.me, node, kind, len(arguments), len(data))
            message = header.packed() + pack(f">{len(arguments)}I", *arguments) + data
            await process.spend("ssam_compose")
            await process.spend("ssam_word", -(-len(message) // 4) - FORMAT.size // 4)
            process.store_bytes(self.area.va + offset, message)
            await kernel.send(self.area, offset, send)
        await self._look()

    @property
    def _task(self) -> object:
        return self.process.host.scheduler.kernel.current

    async def _walk(self) -> int:
        """Run the handlers of the messages that have come; how many."""
        begun, self._walker, process = self._taken, self._task, self.process
        try:
            await process.spend("ssam_look")
            while (va := self.area.come(self._taken)) is not None:
                await self._dispatch(va)
                self._taken += 1
                self.area.through(self._taken)
                await process.spend("ssam_look")
        finally:
            self._walker = None
        return self._taken - begun

    async def _dispatch(self, va: int) -> None:
        """One message: its handler, and the answer to a request that its handler has not answered."""
        process, host = self.process, self._kernel.host
        header = Header.of(process.load_bytes(va, FORMAT.size))
        await process.spend("ssam_dispatch")
        trace = self.area.traced.popleft()
        arguments, at = process.load_words(va + FORMAT.size, header.arguments), va + FORMAT.size + 4 * header.arguments
        call = self._handling = Call(self, header, header.source, Kind(header.kind), arguments, at, header.data)
        try:
            host.trace(TraceEvent.HANDLER_START, trace, 0, header.source)
            function = self.rules.handler(call.kind, header.source, header.handler)
            if function is not None:
                await function(call)
            host.trace(TraceEvent.HANDLER_END, trace, 0, header.source)
            if call.kind is Kind.REPLY:
                self._open[header.source] -= 1
                return
            if not call.replied:
                await self.answer(call, NOBODY, (), b"")
            self.handled += 1
        finally:
            self._handling = None
