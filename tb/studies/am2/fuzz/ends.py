"""AM-II process in the fuzz test, with one endpoint known to others and further endpoints that only send.

Messages sent in order to be returned must return; others may, for a full queue or a temporary tag. Messages in flight
of a freed endpoint may arrive, but need not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, cast

from firmware.am2.host import Code, Endpoint, EndpointName, Token
from tb.fuzz.program import Act
from tb.fuzz.request_reply import Process
from tb.studies.am2.fuzz.port import LACKING, MISSING_ENDPOINT, REASONS, UNREACHABLE, Call, Port
from tb.studies.am2.fuzz.segment import Segment

LOOK_PS = 20_000_000
MAYBE = (Code.CONGESTION, Code.BAD_TAG)
"""Reasons for which a message that should have been handled may return: no place, or a temporary tag."""
GONE = (Code.BAD_ENDPOINT, Code.BAD_TAG, Code.REPLY_REJECTED)
"""Reasons for which an answer to a freed endpoint may return."""


@dataclass
class EndpointProcess(Process):
    """AM-II process."""

    due_back: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """Reason, words and bytes of each own message that must return, by number."""
    owners: dict[int, Endpoint] = field(default_factory=dict)
    """Sending endpoint of each request, by number."""
    dropped: set[int] = field(default_factory=set)
    """Requests of freed endpoints: they may be handled, and their answers return."""
    wanted: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    """Place and bytes of each outstanding get, by number."""

    async def open(self) -> None:
        """Open the layer and initialise the segment."""
        layer = self.cluster.layers[self.node]
        handlers = [self.take, self.answer, self.answered, self.put_here, self.badly, self.got]
        self.port = Port(layer, self.key, handlers, self.returned)
        self.segment = Segment(self.port.process, self.node, len(self.cluster.layers))
        self.port.segment = self.segment.at, self.segment.size
        self.first: Endpoint = await self.port.open()

    def far(self, act: Act) -> EndpointProcess:
        """Return the process of the same program on another node."""
        there = (act.whole("to"), self.key)
        return cast(EndpointProcess, next(one for one in self.cluster.processes if (one.node, one.key) == there))

    # ---- requests

    async def take(self, call: Any) -> None:
        """See `Process`."""
        if not self._dropped(call.source, self.cluster.number_of(call)):
            await super().take(call)

    async def answer(self, call: Any) -> None:
        """See `Process`."""
        if self._dropped(call.source, self.cluster.number_of(call)):
            await call.reply(self.answered, *call.arguments, data=call.data)
        else:
            await super().answer(call)

    async def answered(self, call: Any) -> None:
        """See `Process`."""
        if self.cluster.number_of(call) not in self.dropped:
            await super().answered(call)

    def _dropped(self, node: int, number: int = 0) -> bool:
        """Return True if a request, or any request of a node, was sent by an endpoint that has been freed."""
        there = [cast(EndpointProcess, one) for one in self.cluster.processes if one.node == node]
        return any(number in one.dropped if number else one.dropped for one in there)

    async def request(self, act: Act) -> None:
        """See `Process`."""
        number, words, data = self._message(act.whole("words"), min(act.whole("bytes"), self.port.most))
        far = self.far(act)
        self.cluster.sent[far.node, self.key].append((self.node, words, data))
        answered = act.values["answer"] != "nothing"
        if answered:
            self.waiting[number] = (far.node, words, data)
        self.owners[number] = self.port.sender(number)
        await self.port.send(number, far.first.name, self.answer if answered else self.take, *words, data=data)

    def _message(self, words: int, size: int) -> tuple[int, tuple[int, ...], bytes]:
        number = self.cluster.next_number()
        random = Random(number)
        return number, (number, *(random.getrandbits(32) for _ in range(words - 1))), random.randbytes(size)

    async def badly(self, call: Call) -> None:
        """Answer a request to a handler that its sender rejects, so that the answer returns."""
        if not self._dropped(call.source, call.arguments[0]):
            self.cluster.arrived(self, call)
            self.due_back[call.arguments[0]] = Code.REPLY_REJECTED, call.arguments, call.data
        await call.token.reply_i(LACKING, call.data, *call.arguments)

    async def rejected(self, act: Act) -> None:
        """Send a request whose answer will be rejected."""
        number, words, data = self._message(3, 20)
        self.cluster.sent[act.whole("to"), self.key].append((self.node, words, data))
        self.owners[number] = self.port.sender(number)
        await self.port.send(number, self.far(act).first.name, self.badly, *words, data=data)

    # ---- bulk data

    async def put(self, act: Act) -> None:
        """Put bytes into the own slice at another node, after the previous put there has completed."""
        await self._quiet()
        far, (number, _, data) = self.far(act), self._message(1, min(act.whole("bytes"), self.port.put_most))
        at = far.segment.slice(self.node, act.whole("to_at"))
        far.segment.due(at, data)
        words = number, at, len(data)
        self.cluster.sent[far.node, self.key].append((self.node, words, data))
        index = self.port.to(self.first, far.first.name)
        while (self.node, words, data) in self.cluster.sent[far.node, self.key]:  # a piece may have been returned
            await self.first.request_xfer(index, at, self.port.index(self.put_here), data, *words)
            await self._quiet()

    async def put_here(self, call: Call) -> None:
        """Check that all bytes of a put have arrived at the reported place."""
        if call.arguments[1:] != (call.token.offset, call.token.size):
            self.cluster.wrong.append(
                f"{self}: {call.token.size} bytes at {call.token.offset}, sent as {call.arguments}"
            )
        self.cluster.arrived(self, call)

    async def get(self, act: Act) -> None:
        """Get bytes that never change."""
        await self._quiet()
        far, number, at = self.far(act), self.cluster.next_number(), act.whole("at")
        data, own = bytes(far.segment.image[at : at + act.whole("bytes")]), self.segment.landing(act.whole("to_at"))
        self.segment.due(own, data)
        self.wanted[number] = own, data
        index = self.port.to(self.first, far.first.name)
        while number in self.wanted:
            await self.first.get_xfer(index, at, self.port.index(self.got), own, len(data), number)
            await self._quiet()

    async def got(self, call: Call) -> None:
        """Check that all bytes of a get have arrived."""
        at, data = self.wanted.pop(self.cluster.number_of(call), (0, None))
        if data is None or (call.token.offset, call.data) != (at, data):
            self.cluster.wrong.append(f"{self}: a get from node {call.source} is incomplete or duplicated")

    # ---- returned messages

    async def back(self, act: Act) -> None:
        """Send a message that must return."""
        number, words, data = self._message(8, act.whole("bytes"))
        why, far, near = str(act.values["why"]), self.far(act), self.first
        name, tag, handler = far.first.name, self.port.tag, self.port.index(self.take)
        self.due_back[number] = REASONS[why], words, data
        if why == "bad endpoint":
            name = EndpointName(name.node, MISSING_ENDPOINT)
        elif why == "no route":
            name = EndpointName(len(self.cluster.layers), 0)
        near.map(UNREACHABLE, name, tag + (why == "bad tag"))
        handler = LACKING if why == "bad handler" else handler
        if why in ("bad place", "bad length"):
            place = far.segment.size + 1 if why == "bad place" else far.segment.size - len(data) // 2
            if why == "bad length" and not data:
                self.due_back[number], data = (REASONS[why], words, b"12"), b"12"
                place = far.segment.size - 1
            await near.request_xfer(UNREACHABLE, place, handler, data, *words)
        elif data:
            await near.request_i(UNREACHABLE, handler, data, *words)
        else:
            await near.request(UNREACHABLE, handler, *words)

    async def returned(self, token: Token) -> None:
        """Handle a returned message."""
        number = token.arguments[0] if token.arguments else 0
        if number in self.due_back:
            code, *message = self.due_back.pop(number)
            if token.status not in (code, *MAYBE) or message != [token.arguments, token.data]:
                self.cluster.wrong.append(f"{self}: {number} was returned as {token.status.name}, changed")
        elif not (self._answer_to_freed(token, number) or self._may_be(token)):
            self.cluster.wrong.append(f"{self}: {number} was returned as {token.status.name} from {token.source}")

    def _answer_to_freed(self, token: Token, number: int) -> bool:
        return token.is_reply and token.status in GONE and self._dropped(token.source.node, number)

    def _may_be(self, token: Token) -> bool:
        """Account for a message that may return and will not be handled any more; bulk data are sent again."""
        if token.status not in MAYBE:
            return False
        if token.is_reply:  # report of a rejected answer
            there = [cast(EndpointProcess, one) for one in self.cluster.processes if one.node == token.source.node]
            return any(one.due_back.pop(token.arguments[0], None) for one in there)
        if token.opcode in ("request bulk", "request get"):
            return True
        due, message = self.cluster.sent[token.source.node, self.key], (self.node, token.arguments, token.data)
        if message not in due:
            return False
        due.remove(message)
        self.waiting.pop(token.arguments[0], None)
        return True

    # ---- endpoints

    async def more(self, act: Act) -> None:
        """Open a further endpoint, which only sends."""
        if len(self.port.endpoints) < 4:
            await self.port.open(act.whole("weight"))

    async def less(self, act: Act) -> None:
        """Free an endpoint after all its requests are answered; a rejected answer in flight is lost."""
        if len(self.port.endpoints) > 1:
            await self._quiet()
            if unheard := self._sent_by(self.port.endpoints[-1]) & set(self.waiting):
                self.cluster.wrong.append(f"{self}: answers to {sorted(unheard)} are missing")
            await self._free()

    async def drop(self, act: Act) -> None:
        """Free an endpoint immediately; its messages in flight are lost to it."""
        if len(self.port.endpoints) > 1:
            mine = self._sent_by(self.port.endpoints[-1])
            for number in mine:
                self.waiting.pop(number, None)
            for due in self.cluster.sent.values():
                due[:] = [one for one in due if one[1][0] not in mine]
            await self._free()

    def _sent_by(self, endpoint: Endpoint) -> set[int]:
        return {number for number, owner in self.owners.items() if owner is endpoint}

    async def _free(self) -> None:
        gone = self.port.endpoints.pop()
        self.dropped |= (mine := self._sent_by(gone))
        for number in mine:
            for process in self.cluster.processes:
                cast(EndpointProcess, process).due_back.pop(number, None)
        await gone.free()

    async def retag(self, act: Act) -> None:
        """Change the tag of the endpoint known to others for some time."""
        await self._quiet()
        await self.first.set_tag(self.port.tag + 5)
        await self.first.set_tag(self.port.tag)

    async def move(self, act: Act) -> None:
        """Move the last endpoint to another bundle and back."""
        await self.port.move_and_back()

    async def sleep(self, act: Act) -> None:
        """Choose whether waits sleep."""
        self.port.sleep(act.whole("sleeps"))

    async def _quiet(self) -> None:
        await self.port.until(lambda: not self.port.unanswered, "the answers")

    # ---- the end

    async def finish(self) -> None:
        """See `Process`; polls its endpoints at intervals, because no event marks the end of the program."""
        await self.port.until(lambda: not (self.port.unanswered or self.waiting), "its own answers")
        while not (
            self.cluster.over() and not any(cast(EndpointProcess, one).open_yet for one in self.cluster.processes)
        ):
            await self.port.poll()
            await self.cluster.world.kernel.sleep(LOOK_PS, "the end of all programs")

    @property
    def open_yet(self) -> bool:
        """True while a message is expected to return or to arrive."""
        return bool(self.due_back or self.wanted)

    def changed(self) -> list[str]:
        """See `Process`."""
        return [f"{self}: {line}" for line in self.segment.wrong()]

    def misuses(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """See `Process`."""
        near, port, take = self.first, self.port, self.port.index(self.take)
        other = port.to(near, near.name)  # itself: no packet of it may leave
        return {
            "entry": partial(near.request, UNREACHABLE - 1, take),
            "words": partial(near.request, other, take, *range(9)),
            "word": partial(near.request, other, take, -1),
            "long": partial(near.request_i, other, take, bytes(port.most + 1)),
            "handler": partial(near.request, other, 0),
            "nobody": partial(_later, near.map, UNREACHABLE, EndpointName(0, 999), 1),
            "tag": partial(near.set_tag, 1 << 64),
            "offset": partial(near.request_xfer, other, 1 << 32, take, b"x"),
            "own place": partial(near.get_xfer, other, 0, take, self.segment.size, 4),
            "weight": partial(port.bundle.allocate_endpoint, 0),
            "freed": self._freed,
            "mask": partial(_later, port.bundle.set_event_mask, 7),
        }

    async def _freed(self) -> None:
        """Call a method of a freed endpoint."""
        endpoint = await self.port.open()
        await endpoint.free()
        self.port.endpoints.remove(endpoint)
        await endpoint.request(0, 1)


async def _later(call: Callable[..., Any], *arguments: Any) -> None:
    call(*arguments)
