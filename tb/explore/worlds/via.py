"""VIA: descriptors that end once, in order, with the bytes that were sent, on a connection made before the search."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from firmware.host.via import Descriptor, Via, VipNic, open_layer
from firmware.host.via import Vi as HostVi
from firmware.host.via.kernel_agent.messages.message import Message as ConnectionMessage
from firmware.layers import ClusterView
from firmware.nic import via as nic_via
from firmware.nic.via.layout import Counter, Vi, Word
from pymodels.formats.via import Kind, Reliability, Status, parse
from tb.explore.part import machine
from tb.explore.world import Promise, SmallWorld

Choices = dict[str, int | str]
TINY: Choices = {
    "vis": 2,
    "packet": 64,
    "inline": 0,
    "outstanding": 4,
    "send_words": 64,
    "receive_words": 64,
    "low_water": 0,
    "regions": 16,
    "queues": 1,
    "timeout_us": 1_000_000,
}
PAGE, PLACE, DATA, AREA, PIECE = 4096, 64, 2048, 64, 4
"""Of a process's one page of memory: bytes of it and of the place of a descriptor, where data begin, bytes of what one
message may have there, and of a segment.
"""
LEFT_OUT = (
    *("Ni._counts", "InterruptHandler.count", "SendNumbers._last"),  # count
    *("ViaPlay", "Layout", "Options", "Process", "PageTable"),  # never change
    *("Registry", "Region", "Tables", "DoorbellPages"),  # nor do these
)
RECEIVED = Status.DONE | Status.RECEIVE


class Message(NamedTuple):
    """One descriptor of a sender."""

    source: int
    segments: int = 1
    """Each goes in a packet of its own."""
    writes: bool = False
    """An RDMA write: no receive takes it."""


Traffic = tuple[Message, ...]
"""In the order in which each host posts its own."""


def body(message: Message, number: int) -> bytes:
    """What a message brings."""
    return bytes((message.source + 1, number + 1, 7, 9)) * message.segments


class User:
    """The process of a node: its memory, its VI, its descriptors."""

    def __init__(self, via: Via, node: int, traffic: Traffic) -> None:
        self.via, self.node, self.traffic = via, node, traffic
        self.nic: VipNic
        self.vi: HostVi
        self.base = self.handle = 0
        self.sent: list[int] = []
        """Statuses of sends that have ended."""
        self.got: list[tuple[int, bytes]] = []
        """Of receives: status and bytes."""

    async def open(self, level: Reliability) -> None:
        """Memory and a VI."""
        self.nic = await self.via.open()
        tag = self.nic.create_ptag()
        self.base = self.nic.process.allocate(PAGE)
        self.handle = await self.nic.register_memory(self.base, PAGE, tag, rdma_write=True)
        self.vi = await self.nic.create_vi(tag, level)

    def parts(self, place: int, message: Message) -> list[tuple[int, int, int]]:
        """The segments of a message, in the area of this number."""
        at = self.base + DATA + AREA * place
        return [(at + PIECE * i, self.handle, PIECE) for i in range(message.segments)]

    def place(self, number: int) -> Descriptor:
        """Where a descriptor stands."""
        return self.nic.descriptor(self.base + PLACE * number, self.handle)

    def sends(self, peer: User) -> list[Descriptor]:
        """Its descriptors of the traffic, made."""
        found = []
        for number, message in enumerate(self.traffic):
            if message.source != self.node:
                continue
            self.nic.process.store_bytes(self.base + DATA + AREA * number, body(message, number))
            parts, place = self.parts(number, message), self.place(number)
            target = peer.base + DATA + AREA * number, peer.handle
            found.append(place.rdma_write(parts, *target) if message.writes else place.send(parts))
        return found

    async def post_receives(self) -> None:
        """One for each message that needs it."""
        for number, message in enumerate(self.traffic):
            if message.source != self.node and not message.writes:
                await self.vi.post_receive(self.place(number).receive(self.parts(number, message)))

    def read(self, number: int) -> bytes:
        """What stands in an area."""
        return self.nic.process.load_bytes(self.base + DATA + AREA * number, PIECE * self.traffic[number].segments)

    async def run(self, sends: list[Descriptor]) -> None:
        """Post, and take everything back."""
        for descriptor in sends:
            await self.vi.post_send(descriptor)
        while len(self.vi.receives):
            done = await self.vi.poll_receive()
            self.got.append((int(done.status), self.read((done.va - self.base) // PLACE)))
        while len(self.vi.sends):
            done = await self.vi.poll_send()
            self.sent.append(int(done.status))


class NoNotices:
    """Nobody is told of the end of a connection."""

    def begin(self, node: int, made: ConnectionMessage, vi: int) -> None:
        """See `Notices`."""


class ViaPlay:
    """Two processes with a connection; receives are posted."""

    def __init__(self, traffic: Traffic, level: Reliability, fine: bool, options: Choices, letters: bool) -> None:
        """`letters`: the kernels tell each other of a connection's end."""
        self.machine = machine(2, fine, sram_bytes=1 << 16, host_bytes=1 << 15)
        self.traffic = traffic
        self.users: list[User] = []
        for node in range(2):
            view = ClusterView(**self.machine.view(node, **{**TINY, **options}))
            self.machine.processor(node).spawn(nic_via.main(self.machine.nic(node), view), "firmware")
            self.users.append(User(open_layer(self.machine.host(node), view), node, traffic))
        here, there = self.users
        self.layout = here.via.kernel_agent.layout
        self.machine.finish(*(user.via.start() for user in self.users))
        self.machine.finish(*(user.open(level) for user in self.users))
        self.machine.finish(self._accept(there), here.vi.connect_request(1, 1, 5000))
        self.machine.finish(*(user.post_receives() for user in self.users))
        self.sends = here.sends(there), there.sends(here)
        if not letters:
            for user in self.users:
                user.vi.context.notices = NoNotices()

    @staticmethod
    async def _accept(user: User) -> None:
        await user.nic.connect_accept(await user.nic.connect_wait(1, 5000), user.vi)

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [partial(user.run, self.sends[node]) for node, user in enumerate(self.users)]

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""
        user = self.users[node]
        written = tuple(
            number
            for number, message in enumerate(self.traffic)
            if message.writes and message.source != node and user.read(number) == body(message, number)
        )
        return tuple(user.sent), tuple(user.got), written, user.vi.state.name

    def idle(self, node: int) -> str:
        """See `Play`."""
        nic = self.machine.nic(node)
        head, tail = nic.load_words(Word.SEND_HEAD, 2)
        left, answered = nic.load(self.layout.vi(1, Vi.LEFT)), nic.load(self.layout.vi(1, Vi.ANSWERED))
        if head != tail:
            return f"NIC {node} has words {head} to {tail} of its send queue left"
        return "" if left == answered else f"NIC {node} waits for answers to {left - answered} of {left} sends"

    def normalise(self, node: int) -> None:
        """See `Play`: nothing needs it."""

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {"sram": [(Word.COUNTERS, Word.COUNTERS + 4 * len(Counter))]}


@dataclass(frozen=True)
class Rules:
    """What a world of these messages promises."""

    traffic: Traffic
    level: Reliability
    breaks: bool
    """A packet may not come, or come too late."""
    letters: bool
    """Both ends hear of it; otherwise one of them may wait on."""

    @property
    def reliable(self) -> bool:
        """A loss breaks the connection; otherwise nobody hears of it."""
        return self.level is not Reliability.UNRELIABLE

    def sends(self, node: int) -> list[int]:
        """Numbers of the messages of a host."""
        return [number for number, message in enumerate(self.traffic) if message.source == node]

    def receives(self, node: int) -> list[int]:
        """Numbers of those that take its receives."""
        return [number for number in self.sends(1 - node) if not self.traffic[number].writes]

    def always(self, node: int, record: Any) -> str:
        """See `Promise`."""
        sent, got, written, state = record
        if state != "CONNECTED" and not (self.breaks and self.reliable):
            return f"the connection of host {node} is {state}, though no packet is missing"
        return self._sent(node, sent) or self._got(node, got, written)

    def _sent(self, node: int, sent: tuple[int, ...]) -> str:
        """Sends end well, and, where the connection may break, behind one that failed all others are flushed."""
        failed = False
        for number, status in zip(self.sends(node), sent, strict=False):
            wrong = Status(status) & Status.ERRORS
            expected = (Status.FLUSHED,) if failed else (Status(0), Status.TRANSPORT_ERROR, Status.FLUSHED)
            if wrong not in (expected if self.breaks and self.reliable else (Status(0),)):
                return f"message {number} of host {node} ends with {wrong!r}"
            failed |= bool(wrong)
        return ""

    def _got(self, node: int, got: tuple[tuple[int, bytes], ...], written: tuple[int, ...]) -> str:
        """Messages come whole, once, in order, behind the writes before them; the receives behind them are flushed."""
        bodies = {body(self.traffic[number], number): number for number in self.receives(node)}
        came = [bodies.get(data, -1) for status, data in got if status == RECEIVED]
        rest = [status for status, _ in got[len(came) :]]
        meant = self.receives(node)
        if self.reliable or not self.breaks:
            right = came == meant[: len(came)]
        else:
            right = came == sorted(set(came)) and -1 not in came
        if not right:
            return f"host {node} got messages {came}, {meant} were sent"
        if any(status != RECEIVED | Status.FLUSHED for status in rest) or (rest and not self.breaks):
            return f"receives of host {node} end with {[hex(status) for status in rest]}"
        before = {number for last in came for number in self.sends(1 - node) if number < last}
        late = [number for number in before if self.traffic[number].writes and number not in written]
        return f"host {node} got messages {came}, and not what was written before: {late}" if late else ""

    def at_end(self, node: int, record: Any) -> str:
        """See `Promise`."""
        sent, got, *_ = record
        lacking = len(self.sends(node)) - len(sent), len(self.receives(node)) - len(got)
        if lacking[0] or (lacking[1] and (not self.breaks or (self.reliable and self.letters))):
            return "host {} waits for the ends of {} sends and {} receives".format(node, *lacking)
        return ""

    def together(self, records: tuple[Any, ...]) -> str:
        """See `Promise`."""
        for node, (sent, *_) in enumerate(records):
            _, got, written, _ = records[1 - node]
            came = [status for status, _ in got].count(RECEIVED) + len(written)
            done = [status & Status.ERRORS for status in sent].count(0)
            if self.reliable and came < done:
                return f"{done} messages of host {node} are done, and {came} have arrived"
        states = [state for *_, state in records if self.letters]
        return "" if len(set(states)) < 2 else f"the connection is {states[0]} at one end and {states[1]} at the other"


def say(packet: bytes) -> str:
    """A packet in words."""
    header = parse(int.from_bytes(packet[:4], "big"), int.from_bytes(packet[4:8], "big"))
    kind = Kind(header.kind)
    answers = kind >= Kind.DONE
    what = "letter" if not header.vi else "for message" if answers else "of message"
    return f"{kind.name} {what} {header.sequence if answers else header.number}"


def world(
    name: str,
    question: str,
    traffic: Traffic,
    level: Reliability = Reliability.DELIVERY,
    fine: bool = False,
    options: Choices | None = None,
    letters: bool = True,
    **further: Any,
) -> SmallWorld:
    """A world of messages on a connection of a level."""
    play = partial(ViaPlay, traffic, level, fine, options or {}, letters)
    rules = Rules(traffic, level, bool(further.get("faults", frozenset()) - {"doubled"}), letters)
    promise = Promise(rules.always, rules.at_end, rules.together)
    return SmallWorld(name, question, play, promise, say, left_out=LEFT_OUT, **further)


USER_LEVEL: Choices = {"processes": 1, "table_words": 256, "translation_entries": 4}
"""One page of doorbells, and small tables."""


def kept() -> list[SmallWorld]:
    """What holds when nothing is lost."""
    one, back, write = Message(0), Message(1), Message(0, writes=True)
    delivery, reception = Reliability.DELIVERY, Reliability.RECEPTION
    fetching = {**USER_LEVEL, "preset": "bvia2", "doorbell": "d1_ring", "packet": 64}
    found: list[tuple[str, str, Traffic, Reliability, Choices]] = [
        ("delivery", "three messages, done when the target's NIC has them", (one,) * 3, delivery, {}),
        ("reception", "three messages, done when they are in memory", (one,) * 3, reception, {}),
        ("pieces", "a message of two packets, and one of one", (Message(0, segments=2), one), delivery, {}),
        ("crossing", "a message each way: no deadlock", (one, back), delivery, {}),
        ("crossing-two", "two messages and one against them: no deadlock", (one, one, back), delivery, {}),
        ("bells", "two messages by a doorbell FIFO", (one, one), delivery, {**USER_LEVEL, "preset": "hwvia"}),
        ("fetching", "two messages, descriptors that the NIC fetches", (one, one), delivery, fetching),
        (
            *("ahead", "a message each way, receives that the NIC fetches when they are posted", (one, back)),
            *(delivery, {**fetching, "descriptors": "prefetch"}),
        ),
        ("write", "an RDMA write that the kernel copies, and a message behind it", (write, one), delivery, {}),
        ("table", "the same, and the NIC finds the memory", (write, one), delivery, {"rdma": "table"}),
    ]
    return [
        *(
            world(name, f"{what}: once, in order", traffic, level, options=options)
            for name, what, traffic, level, options in found
        ),
        world("fine", "one message, and a turn for the end of each piece of software", (one,), delivery, fine=True),
        world("early", "two messages, and a limit of time that is looked at too early", (one, one), delivery, early=1),
    ]


def faulty() -> list[SmallWorld]:
    """What holds when one packet is lost, damaged, doubled or overtaken."""
    one, delivery, reception, loose = (Message(0),), Reliability.DELIVERY, Reliability.RECEPTION, Reliability.UNRELIABLE
    lost, hears = {"lost", "damaged"}, "both ends see an error"
    end, some = "all arrives, or the sender sees an error", "at most once, in order"
    found: list[tuple[str, str, Traffic, Reliability, set[str], bool]] = [
        ("doubled", "two messages: all arrives", one * 2, delivery, {"doubled"}, True),
        ("overtaken", f"two messages, no letters: {end}", one * 2, delivery, {"overtaken"}, False),
        ("lost", f"two messages, no letters: {end}", one * 2, delivery, lost, False),
        ("lost-stored", f"two messages, done when in memory, no letters: {end}", one * 2, reception, lost, False),
        ("lost-of-three", f"three messages, done when in memory, no letters: {end}", one * 3, reception, lost, False),
        ("heard", f"one message, or {hears}", one, delivery, lost, True),
        ("heard-of-two", f"two messages, or {hears}", one * 2, delivery, lost, True),
        ("loose-doubled", f"three messages, unreliable: {some}", one * 3, loose, {"doubled"}, True),
        ("loose-overtaken", f"three messages, unreliable: {some}", one * 3, loose, {"overtaken"}, True),
        ("loose-lost", f"three messages, unreliable: {some}", one * 3, loose, lost, True),
    ]
    return [
        world(
            name,
            f"one packet is {' or '.join(sorted(faults))}; {what}",
            traffic,
            level,
            letters=letters,
            faults=frozenset(faults),
            times=1,
        )
        for name, what, traffic, level, faults, letters in found
    ]


def worlds() -> list[SmallWorld]:
    """All of them."""
    return [*kept(), *faulty()]
