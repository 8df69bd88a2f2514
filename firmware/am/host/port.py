"""AM as a program uses it: requests, replies, polling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from firmware.am.host.data import Data, Stretch, size_of
from firmware.am.host.errors import AmError
from firmware.am.host.interrupts import Interrupts
from firmware.am.host.remote import get, put
from firmware.am.nic.layout import (
    ARGUMENTS,
    ENTRY,
    MOST,
    SLOTS,
    STRIDE,
    THERE_AT,
    WORDS,
    Control,
    Place,
    Word,
    key,
)
from firmware.am.options import Options
from firmware.common.host.code_image import CodeImage
from firmware.common.host.request_reply import NOBODY, Handler, Kind, Rules
from firmware.common.host.request_reply import Call as AnyCall
from firmware.common.host.words import store_words
from firmware.verbs import Buffer, Host
from firmware.view import ClusterView
from pymodels.host.moves import Moves
from pymodels.trace import TraceEvent

CHECK = 0xFFFFFF
"""So much of the code image's checksum travels with a message."""


class Call(AnyCall[Control]):
    """A message, as its handler sees it. Its payload stands in a receive buffer until the handler returns."""

    def __init__(self, port: Port, source: int, control: Control, arguments: tuple[int, ...], address: int) -> None:
        super().__init__(port, control, source, Kind(control.kind), arguments, address, control.size)
        self.port = port


class Port:
    """A process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView, memory: Buffer, image: CodeImage[Handler]) -> None:
        self.host, self._memory, self.me = host, memory, view.me
        self.partners = [node for node in view.routes if node != view.me]
        self.rules = Rules(host.who, AmError, self.partners, image, ARGUMENTS, MOST)
        self._names, self._place = view.names, Place(len(view.names))
        options = Options.of(view.options)
        self._unrestricted = options.unrestricted
        self._free = {node: deque(range(SLOTS)) for node in self.partners}
        """Request slots of each partner that are free."""
        self._sent = self._taken = 0
        self._handling: Call | None = None
        self.process = host.process()
        """Of the program."""
        self._runner: object = None
        """The task that hands messages over, and runs handlers."""
        self._idle = host.event("the handlers that another task runs")
        self._moves = Moves()
        self._interrupts = Interrupts(host, self.process, self.poll) if options.receive == "interrupt" else None
        self.handled = 0
        """Requests whose handlers have run, and that are answered."""

    async def request(self, node: int, handler: Handler, *arguments: int, data: Data = b"") -> None:
        """Send a request: its handler runs at the node. Returns when its descriptor is the NIC's. Waits, polling, while
        four are not answered; polls once in any case. Raises AmError, ImageError.
        """
        handling = self._handling
        if handling is not None and self._runner is self._task and not self._unrestricted:
            self.rules.refuse_within(handling.kind, node)
        address = self.rules.image.address(handler)
        self.check(node, arguments, data)
        free = self._free[node]
        await self.until(lambda: bool(free), f"an answer of node {node}", f"host {self._names[node]}")
        await self._send(Kind.REQUEST, node, free.popleft(), address, arguments, data)
        await self.poll()

    async def put(self, node: int, to: int, source: int, size: int, flag: int) -> None:
        """Copy bytes at `source` of this host to `to` at a node, which then counts its word at `flag` up (0: none).
        Split-phase: the bytes may be changed when `unanswered` is 0. Raises AmError.
        """
        await put(self, node, to, source, size, flag)

    async def get(self, node: int, source: int, to: int, size: int, flag: int) -> None:
        """Copy bytes at `source` of a node to `to` at this host, whose word at `flag` is then counted up (0: none).
        Split-phase. Raises AmError.
        """
        await get(self, node, source, to, size, flag)

    async def poll(self) -> int:
        """Run the handlers of what has come; how many."""
        if self._runner:
            return 0
        self._runner, count = self._task, 0
        try:
            while self.host.load_words(self._entry + THERE_AT, 1) != (0,):
                await self._take()
                count += 1
            if not count:
                await self.host.spend("am_look")
        finally:
            self._runner = None
            self._idle.set()
        return count

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Use the CPU as an application computes: a compiled path, or so many ns, `times` times. With
        `receive=interrupt` messages that come meanwhile are handled meanwhile. Raises ComputingError.
        """
        if self._interrupts:
            await self._interrupts.compute(what, times)
        else:
            await self.process.compute(what, times)

    @property
    def interrupted(self) -> int:
        """Computations that messages have interrupted."""
        return self._interrupts.count if self._interrupts else 0

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until it holds. `what` and its `holder` are what a hang report says of the wait."""
        if condition():
            return
        host = self.host
        host.waits.want(host.who, what, holder)
        while not condition():
            before = self._moves.count
            if self._runner:
                await self._idle.wait()
            elif not await self.poll() and self._moves.count == before:
                await host.poll([(self._entry + THERE_AT, 0)], "am_look", self._moves)
        host.waits.got(host.who, what)

    async def flag(self, address: int, count: int) -> None:
        """Poll until a flag has been counted up to `count`."""
        await self.until(lambda: self.host.load_words(address, 1)[0] >= count, f"the flag at {address:#x}")

    @property
    def unanswered(self) -> int:
        """Requests that are not answered."""
        return sum(SLOTS - len(free) for free in self._free.values())

    @property
    def sent(self) -> int:
        """Messages that this process has sent, replies among them."""
        return self._sent

    def changed(self) -> None:
        """Let those that wait look at their conditions again."""
        self._moves.moved()

    @property
    def _task(self) -> object:
        return self.process.host.scheduler.kernel.current

    # ---- what both kinds of message need

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Raises AmError for what cannot be sent."""
        self.rules.check(node, arguments, size_of(data) if isinstance(data, Data) else None)

    async def answer(self, call: AnyCall[Control], handler: int, arguments: tuple[int, ...], data: Data) -> None:
        """The reply to a request; `handler`: its address."""
        await self._send(Kind.REPLY, call.source, call.header.slot, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Bytes of a receive buffer."""
        return self.host.load_bytes(address, size)

    async def _send(
        self, kind: Kind, node: int, slot: int, handler: int, arguments: tuple[int, ...], data: Data
    ) -> None:
        """A descriptor, with its payload in its send buffer or where the application has it."""
        host, size = self.host, size_of(data)
        host.trace(TraceEvent.SEND_CALL, 0, size, self._sent)
        await host.spend("am_send")
        address = self._memory.address + self._place.buffer(node, kind, slot)
        if isinstance(data, Stretch):
            address = data.address
        elif size:
            host.store_bytes(address, bytes(data))
            await host.copy_memory("am_copy", address, address, size)
        place, name = self._sent % self._place.entries, key(self.me, self._sent)
        self._sent += 1
        padded = (*arguments, *[0] * (ARGUMENTS - len(arguments)))
        check = node << 24 | self.rules.image.checksum & CHECK
        control = Control(kind, slot, len(arguments), size).word
        host.trace(TraceEvent.PAYLOAD_WRITTEN, name, size, self._sent - 1)
        await store_words(host, Word.DESCRIPTORS + STRIDE * place, address, check, handler, *padded, control)
        host.trace(TraceEvent.POINTER_WRITTEN, name)

    @property
    def _entry(self) -> int:
        """The next entry of the receive queue."""
        return self._memory.address + self._place.queue + ENTRY * (self._taken % self._place.entries)

    async def _take(self) -> None:
        """The next message: its handler, and the answer to a request that its handler has not answered."""
        host, at = self.host, self._entry
        check, handler, *arguments, word, name = host.load_words(at, WORDS + 1)
        control, source = Control.of(word), name >> 24
        host.trace(TraceEvent.POLL_HIT, name, 0, source)
        await host.spend("am_receive")
        host.store_words(at + THERE_AT, (0,))
        self._taken += 1
        payload = self._memory.address + self._place.receive + self._place.buffer(source, control.kind, control.slot)
        call = Call(self, source, control, tuple(arguments[: control.arguments]), payload)
        host.trace(TraceEvent.HANDLER_START, name, 0, source)
        self._handling = call
        try:
            await self._run(call, handler, check)
            host.trace(TraceEvent.HANDLER_END, name, 0, source)
            if call.kind is Kind.REPLY:
                self._free[source].append(control.slot)
            else:
                if not call.replied:
                    await self.answer(call, NOBODY, (), b"")
                self.handled += 1
        finally:
            self._handling = None
        self._moves.moved()

    async def _run(self, call: Call, handler: int, check: int) -> None:
        """Raises AmError for a message of another program, or whose handler is none."""
        if check & CHECK != self.rules.image.checksum & CHECK:
            what = f"{self.host.who}: a {call.kind.label} of node {call.source}"
            raise AmError(what, "its program has other handlers", "open AM with the same handlers on all nodes")
        function = self.rules.handler(call.kind, call.source, handler)
        if function is not None:
            await function(call)
