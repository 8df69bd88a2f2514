"""Fuzz test of EPOS: messages and multicasts of all sizes between all nodes, in each composition.

Readers are late, an MTU is reduced, and the network loses and damages frames in compositions without credits.
Rendezvous is not drawn, because its receivers must post first.

Each message received from a node was sent by it to this one, complete and in order. With reliability, or on a lossless
network, every message arrives once. Otherwise messages are lost as a whole. Each invalid call is rejected. At the end
no message waits, every doorbell is completed, and no copied slot is held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import Random
from typing import Any

from firmware.epos.host import Epos, EposError, MemoryRange
from firmware.epos.options import SETS
from firmware.layers import nic_program
from pymodels.registers import Pci
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw, fit, nics
from tb.fuzz.program import Act, Program, Value
from tb.fuzz.world import World

NIC = nics("epos", often=3)
COMPOSITIONS = (
    *("", "", "", "", "multicast", "reliability", "reliability", "flow+reliability", "flow+reliability"),
    *("+".join(one) for one in SETS if "rendezvous" not in one),
)
"""Compositions, the most documented ones with higher probability."""
SIZES = (0, 1, 4, 255, 257, 512, 513, 2000, 4096)
KINDS = (
    *("send", "send", "send", "send", "stretch", "multicast", "poll", "take"),
    *("late", "left", "lower", "switch", "bell", "bad"),
)
BAD = ("node", "own", "long", "text", "communicator", "grows", "post", "activate")
QUIET_PS, LONGEST_PS, LOOK_PS = 400_000_000, 1_500_000_000_000, 50_000_000


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, 5)
    options: dict[str, Value] = {
        "protocols": draw.one_of(COMPOSITIONS), "mtu": draw.one_of((512, 4096, 64)), "slot_bytes": 4096,
        "slots": draw.one_of((4, 1, 2)), "send_frames": draw.one_of((8, 2)), "receive_frames": draw.one_of((8, 2)),
        "pio_limit": draw.one_of((256, 0, 8192)), "timeout_us": 60, "least_mtu": 64,
    }  # fmt: skip
    if draw.once_in(3):
        options["rx_fifo"] = "host"
    if draw.once_in(3):
        options["multicast"] = "loop"
    if draw.once_in(3):
        options["activate"] = "host"
    nic = draw.one_of(NIC)
    if not fit("epos", options, nodes, nic):
        options.pop("activate", None)
    if not fit("epos", options, nodes, nic):
        options["protocols"] = ""
    extra: dict[str, Value] = {"staging": "overwrite"} if draw.once_in(4) else {"notify": "word"}
    if fit("epos", {**options, **extra}, nodes, nic):
        options = {**options, **extra}

    def act(one: Draw) -> Act:
        node = one.whole(0, nodes - 1)
        values: dict[str, Value] = {
            "to": (node + one.whole(1, nodes - 1)) % nodes, "size": one.one_of(SIZES), "number": one.whole(1, 30),
        }  # fmt: skip
        kind = one.one_of(KINDS)
        return Act(node, kind, {**values, "what": one.one_of(BAD)} if kind == "bad" else values)

    chosen = str(options["protocols"])
    lossy = draw.once_in(2) and ("reliability" in chosen or not ("flow" in chosen or "mtu" in chosen))
    rates = {name: draw.one_of((20, 100)) for name in ("loss", "damage") if lossy and "active" not in chosen}
    faults = {**rates, "seed": draw.whole(0, 1 << 16)} if rates else {}
    return Program(nodes, nic, options, faults, tuple(draw.items(act, 30, 120)))


class Node:
    """Node of a program: its actions and received messages."""

    def __init__(self, epos: Epos, cluster: Cluster) -> None:
        self.epos, self.cluster, self.me = epos, cluster, epos.me
        self.random = Random(epos.me)
        self.room = epos.room if epos.place.stride else epos.host.allocate(4096)
        self.running = True

    def message(self, nodes: Sequence[int], size: int) -> bytes:
        """Return the next message to some nodes, which is unique if it is long enough."""
        data = self.random.randbytes(size)
        for node in nodes:
            self.cluster.due[self.me, node].append(data)
        return data

    async def send(self, act: Act) -> None:
        """Send a message."""
        await self.epos.send(act.whole("to"), self.message([act.whole("to")], act.whole("size")))

    async def stretch(self, act: Act) -> None:
        """Send a message from pinned memory that is reused when it has left."""
        await self.epos.left()
        data = self.message([act.whole("to")], act.whole("size"))
        self.epos.host.store_bytes(self.room.address, data)
        await self.epos.send(act.whole("to"), MemoryRange(self.room.address, len(data)))

    async def multicast(self, act: Act) -> None:
        """Send a message to several nodes."""
        if "multicast" in self.epos.protocols:
            others = [node for node in range(len(self.cluster.nodes)) if node != self.me]
            nodes = self.random.sample(others, 1 + act.whole("number") % len(others))
            await self.epos.multicast(nodes, self.message(nodes, act.whole("size")))

    async def poll(self, act: Act) -> None:
        """Receive a message if one has arrived."""
        message = await self.epos.poll()
        if message is not None:
            self.cluster.came(message.source, self.me, message.data)

    async def take(self, act: Act) -> None:
        """Poll several times."""
        for _ in range(act.whole("number")):
            await self.poll(act)

    async def late(self, act: Act) -> None:
        """Do other work without polling."""
        await self.epos.host.sleep(10_000_000 * act.whole("number"), "other work")

    async def left(self, act: Act) -> None:
        """Wait until all frames have left."""
        await self.epos.left()

    async def lower(self, act: Act) -> None:
        """Halve the MTU."""
        if "mtu" in self.epos.protocols:
            await self.epos.lower_mtu(max(64, self.epos.outgoing.mtu // 2))

    async def switch(self, act: Act) -> None:
        """Switch reliability on or off for further messages; the network is then lossless."""
        if "active" in self.epos.protocols and "reliability" in self.epos.protocols:
            self.epos.activate(*(["reliability"] if act.whole("number") % 2 else []))

    async def bell(self, act: Act) -> None:
        """Ring an invalid doorbell."""
        if self.epos.options.notify == "doorbell":
            await self.epos.host.pio_write(self.epos.host.nic_base + Pci.DOORBELL, bytes(4))

    async def bad(self, act: Act) -> None:
        """Make an invalid call, which must be rejected."""
        epos, to, what = self.epos, act.whole("to"), str(act.values["what"])

        async def activate() -> None:
            epos.activate("flow")

        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "node": partial(epos.send, len(self.cluster.nodes), b""),
            "own": partial(epos.send, self.me, b""),
            "long": partial(epos.send, to, bytes(4097)),
            "text": partial(epos.send, to, "text"),  # type: ignore[arg-type]
            "communicator": partial(epos.send, to, b"", 256),
            "grows": partial(epos.lower_mtu, 8192),
            "post": partial(epos.post, to, MemoryRange(self.room.address, 4096)),
            "activate": activate,
        }
        try:
            await calls[what]()
        except EposError:
            return
        self.cluster.wrong.append(f"node {self.me}: invalid call {what!r} was not rejected")


class Cluster:
    """All nodes, and the messages in flight."""

    def __init__(self, program: Program, world: World) -> None:
        self.world, self.wrong = world, list[str]()
        self.sure = not program.faults or "reliability" in str(program.options["protocols"])
        self.sure &= program.options.get("staging") != "overwrite"
        chosen = str(program.options["protocols"])
        self.sure &= (
            "protection" not in chosen or "reliability" in chosen
        )  # a process that does not read must not block others
        nodes = range(program.nodes)
        self.due = {(one, other): deque[bytes]() for one in nodes for other in nodes if one != other}
        self.last = 0
        self.nodes = [
            Node(Epos(world.hosts[node], world.view(node, program.options)), self) for node in range(program.nodes)
        ]

    def came(self, source: int, node: int, data: bytes) -> None:
        """Check a received message; earlier messages of its sender count as lost if loss is possible."""
        due, self.last = self.due[source, node], self.world.kernel.now
        while due and due[0] != data and not self.sure:
            due.popleft()
        if not due or due[0] != data:
            self.wrong.append(f"node {node}: a message of {len(data)} bytes from node {source} that was not expected")
        else:
            due.popleft()

    def over(self) -> bool:
        """Return True if all actions are done, and all messages have arrived or none arrives any more."""
        quiet = not self.sure and self.world.kernel.now - self.last > QUIET_PS
        return not any(node.running for node in self.nodes) and (quiet or not any(self.due.values()))

    async def process(self, node: Node, acts: Sequence[Act]) -> None:
        """Execute the actions of a node, then receive messages until the program is over."""
        for act in acts:
            await act.pause(self.world.kernel)
            await getattr(node, act.name)(act)
        await node.epos.left()
        node.running, self.last = False, self.world.kernel.now
        while not self.over():
            await node.poll(Act(node.me, "poll"))
            await self.world.kernel.sleep(1_000_000, "the next look")

    def held(self) -> list[str]:
        """Return a description of each message and doorbell left at the end."""
        missing = {pair: len(due) for pair, due in self.due.items() if due and self.sure}
        told = [
            f"{count} messages of node {one} to node {other} are missing" for (one, other), count in missing.items()
        ]
        for node in self.nodes:
            nic, outgoing = self.world.nics[node.me], node.epos.outgoing
            if nic.load(node.epos.place.sent) != outgoing._rung & 0xFFFFFFFF:
                told.append(f"node {node.me}: {outgoing._rung} doorbells, {nic.load(node.epos.place.sent)} completed")
        return told


async def run(program: Program, world: World) -> list[str]:
    """Run a program, and return a description of each violation."""
    for nic in world.nics[: program.nodes]:
        nic.spawn(nic_program("epos")(nic, world.view(nic.node, program.options)), "firmware")
    cluster = Cluster(program, world)
    for node in cluster.nodes:
        await node.epos.start()
    world.disturb(program.faults)
    tasks = [
        world.kernel.spawn(cluster.process(node, [act for act in program.acts if act.node == node.me]), f"{node.me}")
        for node in cluster.nodes
    ]
    limit = world.kernel.now + LONGEST_PS
    while not all(task.finished.done for task in tasks):
        if world.kernel.now > limit:
            return [*cluster.wrong, "not all nodes have ended", *world.kernel.waiting(), *cluster.held()]
        await world.kernel.sleep(LOOK_PS, "the next look")
    world.disturb({})
    return [*cluster.wrong, *cluster.held()]


FUZZ = Fuzz(program=program, run=run)
