"""AM as a program uses it: requests, replies, PUT, GET and polling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from firmware.am.host.errors import AmError
from firmware.am.host.interrupts import Interrupts
from firmware.am.host.remote import get, put
from firmware.am.nic.layout import (
    ARGUMENTS,
    ENTRY,
    MOST,
    SLOTS,
    STRIDE,
    VALID_AT,
    WORDS,
    Control,
    Place,
    Word,
    key,
)
from firmware.am.options import Options
from firmware.common.host.code_image import CodeImage
from firmware.common.host.payload import Data, MemoryRange, size_of
from firmware.common.host.request_reply import NO_HANDLER, Handler, Kind, Rules
from firmware.common.host.request_reply import Call as AnyCall
from firmware.common.host.words import store_words
from firmware.verbs import Buffer, Host
from firmware.view import ClusterView
from pymodels.host.moves import Moves
from pymodels.trace import TraceEvent

CHECK = 0xFFFFFF
"""Mask of the checksum bits of the code image that each message carries."""


class Call(AnyCall[Control]):
    """Received message, as passed to its handler. The payload stays in a receive buffer until the handler returns."""

    def __init__(self, port: Port, source: int, control: Control, arguments: tuple[int, ...], address: int) -> None:
        super().__init__(port, control, source, Kind(control.kind), arguments, address, control.size)
        self.port = port


class Port:
    """AM endpoint of one process of the parallel program."""

    def __init__(self, host: Host, view: ClusterView, memory: Buffer, image: CodeImage[Handler]) -> None:
        self.host, self._memory, self.me = host, memory, view.me
        self.partners = [node for node in view.routes if node != view.me]
        self.rules = Rules(host.who, AmError, self.partners, image, ARGUMENTS, MOST)
        self._names, self._place = view.names, Place(len(view.names))
        options = Options.from_values(view.options)
        self._unrestricted = options.unrestricted
        self._free = {node: deque(range(SLOTS)) for node in self.partners}
        """Free request slots, by partner."""
        self._sent = self._taken = 0
        self._handling: Call | None = None
        self.process = host.process()
        """Operating-system process of the program."""
        self._runner: object = None
        """Task that is running message handlers, or None."""
        self._idle = host.event("the handlers of another task")
        self._moves = Moves()
        self._interrupts = Interrupts(host, self.process, self.poll) if options.receive == "interrupt" else None
        self.handled = 0
        """Number of requests handled and replied to by this process."""

    async def request(self, node: int, handler: Handler, *arguments: int, data: Data = b"") -> None:
        """Send a request, whose handler runs at another node. Return when the NIC has its descriptor.

        Polls while all four request slots of the node are in use, and once after sending.

        Args:
            node: destination node.
            handler: function of the code image to run there.
            arguments: up to 5 words of 32 bits.
            data: payload, up to 4096 bytes.

        Raises:
            AmError: an invalid argument, or a call in a handler without `am.unrestricted=1`.
            ImageError: the handler is not in the code image.
        """
        handling = self._handling
        if handling is not None and self._runner is self._task and not self._unrestricted:
            self.rules.reject_nested_request(handling.kind, node)
        address = self.rules.image.address(handler)
        self.check(node, arguments, data)
        free = self._free[node]
        await self.until(lambda: bool(free), f"a reply from node {node}", f"host {self._names[node]}")
        await self._send(Kind.REQUEST, node, free.popleft(), address, arguments, data)
        await self.poll()

    async def put(self, node: int, to: int, source: int, size: int, flag: int) -> None:
        """Copy bytes of this host to another node (split-phase). The bytes may be changed when `unanswered` is 0.

        Args:
            node: destination node.
            to: physical address at the destination, a multiple of 4.
            source: physical address of the bytes on this host, a multiple of 4.
            size: number of bytes.
            flag: address of the word that the destination increments at the end; 0: none.

        Raises:
            AmError: an invalid argument.
        """
        await put(self, node, to, source, size, flag)

    async def get(self, node: int, source: int, to: int, size: int, flag: int) -> None:
        """Copy bytes of another node to this host (split-phase).

        Args:
            node: node that has the bytes.
            source: physical address of the bytes there, a multiple of 4.
            to: physical address on this host, a multiple of 4.
            size: number of bytes.
            flag: address of the word of this host that is incremented at the end; 0: none.

        Raises:
            AmError: an invalid argument.
        """
        await get(self, node, source, to, size, flag)

    async def poll(self) -> int:
        """Run the handlers of all received messages. Return how many were handled."""
        if self._runner:
            return 0
        self._runner, count = self._task, 0
        try:
            while self.host.load_words(self._entry + VALID_AT, 1) != (0,):
                await self._take()
                count += 1
            if not count:
                await self.host.spend("am_look")
        finally:
            self._runner = None
            self._idle.set()
        return count

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Compute on the host CPU. With `am.receive=interrupt`, received messages are handled during the computation.

        Args:
            what: name of a compiled path, or a time in ns.
            times: number of repetitions.

        Raises:
            ComputingError: an invalid argument.
        """
        if self._interrupts:
            await self._interrupts.compute(what, times)
        else:
            await self.process.compute(what, times)

    @property
    def interrupted(self) -> int:
        """Number of times that messages have interrupted the program."""
        return self._interrupts.count if self._interrupts else 0

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until `condition()` is true. `what` and `holder` describe the wait in a hang report."""
        if condition():
            return
        host = self.host
        host.waits.want(host.who, what, holder)
        while not condition():
            before = self._moves.count
            if self._runner:
                await self._idle.wait()
            elif not await self.poll() and self._moves.count == before:
                await host.poll([(self._entry + VALID_AT, 0)], "am_look", self._moves)
        host.waits.got(host.who, what)

    async def flag(self, address: int, count: int) -> None:
        """Poll until the flag at `address` has reached `count`."""
        await self.until(lambda: self.host.load_words(address, 1)[0] >= count, f"the flag at {address:#x}")

    @property
    def unanswered(self) -> int:
        """Number of requests sent by this process that have no reply yet."""
        return sum(SLOTS - len(free) for free in self._free.values())

    @property
    def sent(self) -> int:
        """Number of messages sent by this process, replies included."""
        return self._sent

    def changed(self) -> None:
        """Make waiting tasks evaluate their conditions again."""
        self._moves.moved()

    @property
    def _task(self) -> object:
        return self.process.host.scheduler.kernel.current

    # ---- interface for `firmware.common.host.request_reply`

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Check destination, arguments and payload of a message. Raises AmError."""
        self.rules.check(node, arguments, size_of(data) if isinstance(data, Data) else None)

    async def answer(self, call: AnyCall[Control], handler: int, arguments: tuple[int, ...], data: Data) -> None:
        """Send the reply to a request; `handler` is an address in the code image."""
        await self._send(Kind.REPLY, call.source, call.header.slot, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Return the bytes of a receive buffer."""
        return self.host.load_bytes(address, size)

    async def _send(
        self, kind: Kind, node: int, slot: int, handler: int, arguments: tuple[int, ...], data: Data
    ) -> None:
        """Copy the payload into its send buffer, unless the NIC fetches it in place, and write the descriptor to the
        NIC.
        """
        host, size = self.host, size_of(data)
        message = host.message()
        host.trace(TraceEvent.SEND_CALL, 0, size, message=message)
        await host.spend("am_send")
        address = self._memory.address + self._place.buffer(node, kind, slot)
        if isinstance(data, MemoryRange):
            address = data.address
        elif size:
            host.store_bytes(address, bytes(data))
            await host.copy_memory("am_copy", address, address, size)
        place, name = self._sent % self._place.entries, key(self.me, self._sent)
        self._sent += 1
        padded = (*arguments, *[0] * (ARGUMENTS - len(arguments)))
        check = node << 24 | self.rules.image.checksum & CHECK
        control = Control(kind, slot, len(arguments), size).word
        host.trace(TraceEvent.PAYLOAD_WRITTEN, name, size, message=message)
        host.put_message(host.nic_base + Word.DESCRIPTORS + STRIDE * place, message)
        await store_words(host, Word.DESCRIPTORS + STRIDE * place, address, check, handler, *padded, control)
        host.trace(TraceEvent.POINTER_WRITTEN, name, message=message)

    @property
    def _entry(self) -> int:
        """Address of the next entry of the receive queue."""
        return self._memory.address + self._place.queue + ENTRY * (self._taken % self._place.entries)

    async def _take(self) -> None:
        """Handle the next received message, and reply to a request whose handler did not."""
        host, at = self.host, self._entry
        check, handler, *arguments, word, name = host.load_words(at, WORDS + 1)
        control, source = Control.decode(word), name >> 24
        message = host.message_at(at)
        host.trace(TraceEvent.POLL_HIT, name, 0, source, message=message)
        await host.spend("am_receive")
        host.store_words(at + VALID_AT, (0,))
        self._taken += 1
        payload = self._memory.address + self._place.receive + self._place.buffer(source, control.kind, control.slot)
        call = Call(self, source, control, tuple(arguments[: control.arguments]), payload)
        host.trace(TraceEvent.HANDLER_START, name, 0, source, message=message)
        self._handling = call
        try:
            await self._run(call, handler, check)
            host.trace(TraceEvent.HANDLER_END, name, 0, source, message=message)
            if call.kind is Kind.REPLY:
                self._free[source].append(control.slot)
            else:
                if not call.replied:
                    await self.answer(call, NO_HANDLER, (), b"")
                self.handled += 1
        finally:
            self._handling = None
        self._moves.moved()

    async def _run(self, call: Call, handler: int, check: int) -> None:
        """Run the handler of a message. Raises AmError if the code images differ or the address is not a handler's."""
        if check & CHECK != self.rules.image.checksum & CHECK:
            what = f"{self.host.who}: {call.kind.label} from node {call.source}"
            raise AmError(
                what, "its code image differs from this node's", "open AM with the same handlers on all nodes"
            )
        function = self.rules.handler(call.kind, call.source, handler)
        if function is not None:
            await function(call)
