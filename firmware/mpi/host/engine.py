"""Engine of one rank: eager and rendezvous protocols over a transport, and message matching.

No message is sent while one is being received. Messages that become due then (permissions, permitted data) are sent by
`advance`, in calls of the application. So a transport that delivers in handlers never waits inside one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from firmware.mpi.call_names import NUMBERS
from firmware.mpi.host.copying import Copier
from firmware.mpi.host.envelope import CONTEXTS, EACH, FIXED, Kind, Mode, first, known, parts
from firmware.mpi.host.errors import ErrorClass, Misuse, MpiError
from firmware.mpi.host.matching import ANY, Key, Matcher
from firmware.mpi.host.message import NOTHING, Message
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.schedule import Schedule
from firmware.mpi.host.status import Status
from firmware.mpi.host.transport import Arrival, Due, Transport, Words
from firmware.mpi.options import Options
from firmware.verbs import Host
from pymodels.trace import TraceEvent


class Engine:
    """State shared by all communicators of a rank; the `Port` of its transport."""

    def __init__(self, host: Host, names: Sequence[str], rank: int, transport: Transport, options: Options) -> None:
        """Create the engine; `names` are the hosts by rank in MPI_COMM_WORLD, `rank` is the own rank."""
        self.host, self.rank, self.names = host, rank, names
        self.matcher: Matcher[Operation, Message] = Matcher()
        self.copier = Copier(host)
        self.running = False
        """True between MPI_Init and MPI_Finalize."""
        self.call = ""
        """Name of the active call, or an empty string."""
        self.buffer = 0
        """Size of the attached buffer for buffered sends, bytes."""
        self._contexts = count(1)
        """Counter of communicators whose contexts this rank has chosen."""
        self.open: list[Operation] = []
        """Operations of requests that have not been waited for."""
        self._transport, self.limit = transport, options.eager_limit
        self._numbers = count(1)
        self._operations: dict[int, Operation] = {}
        """Operations that a message will name, by number."""
        self._buffered: dict[int, tuple[int, int]] = {}
        """Rank and bytes of buffered sends that have not arrived, by number."""
        self._due: deque[Due] = deque()
        self._schedules: list[Schedule] = []
        """Non-blocking collectives in progress."""
        self._resuming = False
        self._failure: MpiError | None = None

    @contextmanager
    def calling(self, call: str) -> Iterator[None]:
        """Run a call of the application.

        Raises MpiError outside of MPI_Init and MPI_Finalize, for a concurrent call, and for invalid arguments.
        """
        self.check(call)
        self.call = call
        try:
            with self._traced(call):
                self._fail()
                yield
        except Misuse as wrong:
            raise MpiError(self.rank, call, wrong.error_class, wrong.cause, wrong.remedy) from None
        finally:
            self.call = ""

    def check(self, call: str) -> None:
        """Check that a call is allowed now. Raises MpiError outside of MPI_Init and MPI_Finalize, and for a concurrent
        call.
        """
        if not self.running:
            cause = "MPI is not initialized, or is finalized"
            raise MpiError(self.rank, call, ErrorClass.OTHER, cause, "call it between MPI_Init and MPI_Finalize")
        if self.call:
            cause = f"{self.call} of another task has not returned"
            raise MpiError(self.rank, call, ErrorClass.OTHER, cause, "let one task of a rank call MPI at a time")

    @contextmanager
    def _traced(self, call: str) -> Iterator[None]:
        """Trace start and end of a call; only the start if the run ends in it."""
        number, ends = NUMBERS[call], True
        self.host.trace(TraceEvent.CALL_START, 0, number)
        try:
            yield
        except GeneratorExit:
            ends = False
            raise
        finally:
            if ends:
                self.host.trace(TraceEvent.CALL_END, 0, number)

    async def start(self) -> None:
        """Connect to all ranks."""
        with self._traced("MPI_Init"):
            await self._transport.start(self)
        self.running = True

    def new_context(self) -> int:
        """Return the first context of a new communicator, unique among all ranks. Raises Misuse."""
        context = (next(self._contexts) * max(len(self.names), FIXED) + self.rank) * EACH
        if context + EACH > CONTEXTS:
            raise Misuse(
                ErrorClass.INTERN, f"rank {self.rank} has chosen all of its contexts", "make fewer communicators"
            )
        return context

    # ---- operations of the application

    async def send(self, operation: Operation, mode: Mode) -> None:
        """Start a send to `operation.peer`; when it is complete its bytes may be changed."""
        await self.host.spend("mpi_send")
        view, rank = operation.view, operation.peer
        data = view.packed()
        if mode is Mode.BUFFERED:
            self._reserve(len(data))
        if not view.contiguous:
            await self.host.spend("mpi_block", view.blocks)
        if mode is Mode.BUFFERED or not view.contiguous:
            data = await self.copier.copy(data)
        number, size = next(self._numbers), len(data)
        if mode is Mode.BUFFERED:
            self._buffered[number] = rank, size
        asks = mode is Mode.SYNCHRONOUS or (mode is not Mode.READY and size >= self.limit)
        word = first(Kind.REQUEST if asks else Kind.EAGER, mode, operation.key.context)
        if asks:
            operation.data, operation.number = data, number
            self._operations[number] = operation
        await self._transmit(rank, (word, operation.key.tag, size, number), b"" if asks else data)
        if mode is Mode.BUFFERED or not asks:
            operation.finish()

    def _reserve(self, size: int) -> None:
        free = self.buffer - sum(taken for _, taken in self._buffered.values())
        if size > free:
            cause = f"{size} bytes, and {free} of {self.buffer} bytes of the buffer are free"
            raise Misuse(ErrorClass.BUFFER, cause, "attach a larger buffer")

    @property
    def buffer_in_use(self) -> bool:
        """True while a buffered message has not arrived."""
        return bool(self._buffered)

    async def receive(self, operation: Operation, message: Message | None = None) -> None:
        """Start a receive; `message` is one that a matched probe has taken."""
        await self.host.spend("mpi_receive")
        looks = 0
        if message is None:
            message, looks = self.matcher.message_for(operation.key)
        if message is None:
            self.matcher.receives.append(operation)
        elif message.asks:
            self._permit(message, operation)
        else:
            message.receive = operation
        if looks:
            await self.host.spend("mpi_look", looks)
        if message is None:
            await self.host.spend("mpi_post")
        elif message.whole:
            await message.deliver()
        await self.advance()

    async def probe(self, key: Key) -> Message | None:
        """Process received messages and look for one with a key."""
        await self.poll()
        message, looks = self.matcher.probe(key)
        await self.host.spend("mpi_look", looks or 1)
        return message

    def cancel(self, operation: Operation) -> None:
        """Withdraw a receive without a message, or request the withdrawal of a send that waits for permission.

        Other sends complete as if this had not been called.
        """
        if self.matcher.cancel(operation):
            operation.status = Status(cancelled=True)
            operation.finish()
        elif self._operations.get(operation.number) is operation and operation.matched is None:
            self._due.append((operation.peer, (first(Kind.CANCEL), operation.number, 0, 0), None))

    # ---- progress

    async def poll(self) -> None:
        """Process received messages, send what is due, and resume non-blocking collectives."""
        await self._transport.poll()
        await self.advance()
        await self._resume()
        self._fail()

    async def begin_schedule(self, operation: Operation, steps: Coroutine[Any, Any, None]) -> None:
        """Start a non-blocking collective; the operation completes with its steps."""
        self._schedules.append(Schedule(operation, steps))
        await self._resume()

    def _resumable(self) -> bool:
        return not self._resuming and any(one.ready for one in self._schedules)

    async def _resume(self) -> None:
        """Resume non-blocking collectives until each waits for a message or has ended."""
        while self._resumable():
            one = next(one for one in self._schedules if one.ready)
            self._resuming = True
            try:
                await one.resume()
            finally:
                self._resuming = False
            if one.operation.done:
                self._schedules.remove(one)

    def permissions(self) -> list[Due]:
        """Remove and return the due messages that carry no data of a send."""
        taken = [one for one in self._due if one[2] is None]
        self._due = deque(one for one in self._due if one[2] is not None)
        return taken

    async def advance(self, permissions: Sequence[Due] = ()) -> None:
        """Send the messages that are due."""
        self._due.extendleft(reversed(permissions))
        while self._due:
            rank, words, sending = self._due.popleft()
            await self.host.spend("mpi_answer")
            await self._transmit(rank, words, sending.data if sending else b"")
            if sending:
                sending.data = b""
                sending.finish()

    async def until(self, done: Callable[[], bool], wanted: Sequence[Operation] = (), otherwise: str = "") -> None:
        """Process messages until a condition holds.

        Args:
            done: the condition.
            wanted: operations that a hang report names.
            otherwise: description for a hang report if no operation is pending.
        """
        await self.advance()
        await self._resume()
        while not done():
            self._fail()
            lacks = [(one.wanted(self.call), one.peer) for one in wanted if not one.done] or [(otherwise, ANY)]
            for what, peer in lacks:
                self.host.waits.want(self.who, what, "" if peer == ANY else f"host {self.names[peer]}")
            await self._transport.wait(
                lambda: done() or bool(self._due) or self._failure is not None or self._resumable()
            )
            for what, _ in lacks:
                self.host.waits.got(self.who, what)
            await self.advance()
            await self._resume()

    async def finish(self) -> None:
        """End the transport; no call follows."""
        await self._transport.finish()

    @property
    def who(self) -> str:
        """Name of this rank in hang reports."""
        return f"{self.host.who}: rank {self.rank}"

    def fail(self, cause: str, remedy: str) -> None:
        """Record an unrecoverable error; the current or next call of this rank raises it."""
        self._failure = MpiError(self.rank, self.call or "no call", ErrorClass.OTHER, cause, remedy)

    def _fail(self) -> None:
        if self._failure:
            raise self._failure

    async def _transmit(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Send a message to another rank, or deliver it to this one."""
        if rank != self.rank:
            what = f"{self.call or 'no call'}: sending to rank {rank}"
            self.host.waits.want(self.who, what)
            try:
                await self._transport.send(rank, words, data)
            finally:
                self.host.waits.got(self.who, what)
            return
        arrival = await self.begin(rank, words, len(data))
        if len(data):
            await arrival.put(0, data)
        await arrival.end()

    # ---- received messages

    async def begin(self, source: int, words: Words, size: int) -> Arrival:
        """Process the start of a message. An invalid header makes the next call fail."""
        await self.host.spend("mpi_arrive")
        kind, mode, context = parts(words) if known(words) else (None, Mode.STANDARD, 0)
        operation = self._operations.get(words[1])
        if (kind is Kind.EAGER and words[2] == size) or (kind is Kind.REQUEST and not size):
            return await self._match(Message(self, Key(context, source, words[1]), kind, mode, words[2], words[3]))
        if kind is Kind.DATA and operation is not None and operation.awaits(source, size):
            return self._data(words[1])
        if kind is Kind.CLEAR and operation is not None and operation.matched is None and operation.peer == source:
            del self._operations[words[1]]
            self._due.append((source, (first(Kind.DATA), words[2], len(operation.data), 0), operation))
        elif kind is Kind.CANCEL:
            self._withdraw(source, words[1])
        elif kind is Kind.CANCELLED and operation is not None and operation.peer == source:
            del self._operations[words[1]]
            operation.data, operation.status = b"", Status(cancelled=True)
            operation.finish()
        elif kind is Kind.ARRIVED and self._buffered.get(words[1], (None,))[0] == source:
            del self._buffered[words[1]]
        else:
            header = " ".join(f"{word & 0xFFFFFFFF:08x}" for word in words)
            cause = f"a message from rank {source} with {size} bytes has an invalid header: {header}"
            self.fail(cause, "look for corruption in transit or in memory")
        return NOTHING

    def _withdraw(self, source: int, number: int) -> None:
        """Drop a request for permission that has met no receive; one that has is permitted, which answers, too."""
        for message in self.matcher.messages:
            if message.asks and message.key.source == source and message.number == number:
                self.matcher.messages.remove(message)
                self._due.append((source, (first(Kind.CANCELLED), number, 0, 0), None))
                return

    async def _match(self, message: Message) -> Arrival:
        """Find the receive of an application's message, or keep the message."""
        receive, looks = self.matcher.receive_for(message.key)
        if receive is None:
            self.matcher.messages.append(message)
        elif message.asks:
            self._permit(message, receive)
        else:
            message.receive = receive
            message.direct = True
        if looks:
            await self.host.spend("mpi_look", looks)
        if receive is None:
            await self.host.spend("mpi_early")
            if message.mode is Mode.READY:
                cause = (
                    f"rank {message.key.source} has sent tag {message.key.tag} in ready mode, but no receive is posted"
                )
                self.fail(cause, "post the receive before the send")
        return message

    def _permit(self, message: Message, receive: Operation) -> None:
        """Permit the data of a request that has met its receive; the data will name the receive."""
        number = next(self._numbers)
        receive.matched = message
        self._operations[number] = receive
        self._due.append((message.key.source, (first(Kind.CLEAR), message.number, number, 0), None))

    def _data(self, number: int) -> Message:
        """Return the message of permitted data."""
        receive = self._operations.pop(number)
        asked = receive.matched
        assert asked is not None
        message = Message(self, asked.key, Kind.DATA, asked.mode, asked.size, asked.number)
        message.receive, message.direct = receive, True
        return message

    def arrived(self, message: Message) -> None:
        """Notify the sender of a buffered message that has met its receive."""
        if message.mode is Mode.BUFFERED:
            self._due.append((message.key.source, (first(Kind.ARRIVED), message.number, 0, 0), None))
