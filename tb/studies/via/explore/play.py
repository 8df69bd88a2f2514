"""Two processes with a VIA connection, made before the search."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from firmware.via import nic as nic_via
from firmware.via.formats import Reliability
from firmware.via.host import Descriptor, Via, VipNic
from firmware.via.host import Vi as HostVi
from firmware.via.host.kernel_agent.messages.message import Message as ConnectionMessage
from firmware.via.nic.layout import Counter, Vi, Word
from firmware.view import ClusterView
from tb.explore.part import machine
from tb.studies.via.explore.rules import Message, Traffic, body

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
"""Layout of a process's one page of memory, in bytes.

Size of the page and of a descriptor's place, start of the data, size of one message's area, and size of a segment.
"""
LEFT_OUT = (
    *("Ni._counts", "InterruptHandler.count", "SendNumbers._last"),  # count
    *("ViaPlay", "Layout", "Options", "Process", "PageTable"),  # never change
    *("Registry", "Region", "Tables", "DoorbellPages"),  # never change either
)


class User:
    """Process of a node: its memory, VI and descriptors."""

    def __init__(self, via: Via, node: int, traffic: Traffic) -> None:
        self.via, self.node, self.traffic = via, node, traffic
        self.nic: VipNic
        self.vi: HostVi
        self.base = self.handle = 0
        self.sent: list[int] = []
        """Statuses of finished sends."""
        self.got: list[tuple[int, bytes]] = []
        """Status and bytes of each finished receive."""

    async def open(self, level: Reliability) -> None:
        """Open the NIC, register memory and create a VI."""
        self.nic = await self.via.open()
        tag = self.nic.create_ptag()
        self.base = self.nic.process.allocate(PAGE)
        self.handle = await self.nic.register_memory(self.base, PAGE, tag, rdma_write=True)
        self.vi = await self.nic.create_vi(tag, level)

    def parts(self, place: int, message: Message) -> list[tuple[int, int, int]]:
        """Return the segments of a message in area number `place`."""
        at = self.base + DATA + AREA * place
        return [(at + PIECE * i, self.handle, PIECE) for i in range(message.segments)]

    def place(self, number: int) -> Descriptor:
        """Return descriptor number `number`."""
        return self.nic.descriptor(self.base + PLACE * number, self.handle)

    def sends(self, peer: User) -> list[Descriptor]:
        """Return the descriptors of this process's part of the traffic, filled in."""
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
        """Post one receive for each message that needs one."""
        for number, message in enumerate(self.traffic):
            if message.source != self.node and not message.writes:
                await self.vi.post_receive(self.place(number).receive(self.parts(number, message)))

    def read(self, number: int) -> bytes:
        """Return the bytes of an area."""
        return self.nic.process.load_bytes(self.base + DATA + AREA * number, PIECE * self.traffic[number].segments)

    async def run(self, sends: list[Descriptor]) -> None:
        """Post all sends and dequeue all descriptors."""
        for descriptor in sends:
            await self.vi.post_send(descriptor)
        while len(self.vi.receives):
            done = await self.vi.poll_receive()
            self.got.append((int(done.status), self.read((done.va - self.base) // PLACE)))
        while len(self.vi.sends):
            done = await self.vi.poll_send()
            self.sent.append(int(done.status))


class NoNotices:
    """Replacement for `Notices` that notifies neither side of the end of a connection."""

    def begin(self, node: int, made: ConnectionMessage, vi: int) -> None:
        """See `Notices`."""


class ViaPlay:
    """Two processes with a connection and posted receives."""

    def __init__(self, traffic: Traffic, level: Reliability, fine: bool, options: Choices, notices: bool) -> None:
        """Set up the play; with `notices` the kernel agents notify each other of a connection's end."""
        self.machine = machine(2, fine, sram_bytes=1 << 16, host_bytes=1 << 15)
        self.traffic = traffic
        self.users: list[User] = []
        for node in range(2):
            view = ClusterView(**self.machine.view(node, **{**TINY, **options}))
            self.machine.processor(node).spawn(nic_via.main(self.machine.nic(node), view), "firmware")
            self.users.append(User(Via(self.machine.host(node), view), node, traffic))
        here, there = self.users
        self.layout = here.via.kernel_agent.layout
        self.machine.finish(*(user.via.start() for user in self.users))
        self.machine.finish(*(user.open(level) for user in self.users))
        self.machine.finish(self._accept(there), here.vi.connect_request(1, 1, 5000))
        self.machine.finish(*(user.post_receives() for user in self.users))
        self.sends = here.sends(there), there.sends(here)
        if not notices:
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
            return f"NIC {node} has not processed words {head} to {tail} of its send queue"
        return "" if left == answered else f"NIC {node} waits for answers to {left - answered} of {left} sends"

    def normalise(self, node: int) -> None:
        """See `Play`; no state needs normalisation."""

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {"sram": [(Word.COUNTERS, Word.COUNTERS + 4 * len(Counter))]}
