"""SSAM as a process uses it: requests, replies, polling. Each call that sends or polls traps into the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack

from firmware.common.host.code_image import CodeImage
from firmware.common.host.lock import Lock
from firmware.common.host.request_reply import NO_HANDLER, Handler, Kind, Rules, size_of
from firmware.common.host.request_reply import Call as AnyCall
from firmware.ssam.host.area import Area
from firmware.ssam.host.errors import SsamError
from firmware.ssam.host.kernel import SsamKernel
from firmware.ssam.host.message import ARGUMENTS, FORMAT, MOST, Header
from pymodels.trace import TraceEvent

Call = AnyCall[Header]


class Port:
    """Device opened by a process."""

    def __init__(self, kernel: SsamKernel, area: Area, image: CodeImage[Handler], requests: int) -> None:
        self.area, self.process, self._kernel = area, area.process, kernel
        self.rules = Rules(area.process.who, SsamError, kernel.partners, image, ARGUMENTS, MOST)
        self._requests = requests
        self._open = dict.fromkeys(kernel.partners, 0)
        """Number of requests without a reply, by node."""
        self._taken = 0
        self._handling: Call | None = None
        self._walker: object = None
        """Task that is running message handlers, or None."""
        self._writing = Lock(kernel.host, "the slot of the next message")
        self._closed = False
        self.handled = 0
        """Number of requests handled and replied to by this process."""
        self.polls = 0
        """Number of calls of `poll`, by the application or by waits."""

    async def request(self, node: int, handler: Handler, *arguments: int, data: bytes = b"") -> None:
        """Send a request, whose handler runs at another node and which is always answered.

        Polls while `ssam.requests` requests to the node have no reply yet.

        Args:
            node: destination node.
            handler: function of the code image to run there.
            arguments: up to 8 words of 32 bits.
            data: up to 2000 bytes.

        Raises:
            SsamError: an invalid argument, a closed device, or a call in a handler.
            ImageError: the handler is not in the code image.
        """
        if self._handling is not None and self._walker is self._task:
            self.rules.reject_nested_request(self._handling.kind, node)
        address = self.rules.image.address(handler)
        self.check(node, arguments, data)
        await self.until(lambda: self._open[node] < self._requests, f"a reply from node {node}", f"host {node}")
        self._open[node] += 1
        await self._send(Kind.REQUEST, node, address, arguments, data)

    async def poll(self) -> int:
        """Trap into the kernel and run the handlers of received messages. Return how many were handled."""
        self._check_open()
        self.polls += 1
        return await self._look()

    async def _look(self) -> int:
        await self._kernel.poll(self.area)
        return 0 if self._walker else await self._walk()

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until `condition()` is true. `what` and `holder` describe the wait in a hang report."""
        waits, who = self._kernel.host.waits, self.process.who
        if condition():
            return
        waits.want(who, what, holder)
        while not condition():
            if not await self.poll():
                await self.process.give_way()
        waits.got(who, what)

    async def close(self) -> None:
        """Close the device. Raises SsamError while requests have no reply."""
        self._check_open()
        if self.unanswered:
            waiting = ", ".join(f"node {node}" for node, count in self._open.items() if count)
            raise SsamError(
                f"{self.process.who}: closing SSAM",
                f"requests to {waiting} have no reply yet",
                "poll until `unanswered` is 0",
            )
        self._closed = True
        await self._kernel.close(self.area)

    @property
    def unanswered(self) -> int:
        """Number of requests sent by this process that have no reply yet."""
        return sum(self._open.values())

    # ---- interface for `firmware.common.host.request_reply`

    def _check_open(self) -> None:
        if self._closed:
            raise SsamError(f"{self.process.who}: SSAM", "the device is closed", "open it again")

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Check destination, arguments and data of a message. Raises SsamError."""
        self._check_open()
        self.rules.check(node, arguments, size_of(data))

    async def answer(self, call: Call, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Send the reply to a request; `handler` is an address in the code image."""
        await self._send(Kind.REPLY, call.source, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Return bytes of the process's memory."""
        return self.process.load_bytes(address, size)

    async def _send(self, kind: Kind, node: int, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Write a message into the next slot, trap to send it, and poll as after every message."""
        process, kernel = self.process, self._kernel
        async with self._writing:
            number = kernel.host.message()
            kernel.host.trace(TraceEvent.SEND_CALL, 0, len(data), message=number)
            offset = self.area.next_slot()
            header = Header(self.area.key, handler, kernel.me, node, kind, len(arguments), len(data))
            message = header.packed() + pack(f">{len(arguments)}I", *arguments) + data
            await process.spend("ssam_compose")
            await process.spend("ssam_word", -(-len(message) // 4) - FORMAT.size // 4)
            process.store_bytes(self.area.va + offset, message)
            await kernel.send(self.area, offset, number)
        await self._look()

    @property
    def _task(self) -> object:
        return self.process.host.scheduler.kernel.current

    async def _walk(self) -> int:
        """Run the handlers of received messages. Return how many were handled."""
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
        """Handle one message, and reply to a request whose handler did not."""
        process, host = self.process, self._kernel.host
        header = Header.decode(process.load_bytes(va, FORMAT.size))
        await process.spend("ssam_dispatch")
        trace, number = self.area.traced.popleft()
        arguments, at = process.load_words(va + FORMAT.size, header.arguments), va + FORMAT.size + 4 * header.arguments
        call = self._handling = Call(self, header, header.source, Kind(header.kind), arguments, at, header.data)
        try:
            host.trace(TraceEvent.HANDLER_START, trace, 0, header.source, message=number)
            function = self.rules.handler(call.kind, header.source, header.handler)
            if function is not None:
                await function(call)
            host.trace(TraceEvent.HANDLER_END, trace, 0, header.source, message=number)
            if call.kind is Kind.REPLY:
                self._open[header.source] -= 1
                return
            if not call.replied:
                await self.answer(call, NO_HANDLER, (), b"")
            self.handled += 1
        finally:
            self._handling = None
