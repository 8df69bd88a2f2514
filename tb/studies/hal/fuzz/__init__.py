"""Mixed fuzz test of HAL: packets of several protocols between all nodes, with kept buffers, replies and interrupts.

The network injects every kind of fault, and routes overtake each other. Each received packet must have been sent to
this node with this protocol. It arrives at most as often as it was sent, unless packets are duplicated. Where the
network loses none, the missing packets must equal the counted drops for lack of a receive buffer. Invalid calls must
raise. At the end all send buffers must be free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from firmware.common.host.payload import MemoryRange
from firmware.hal.host.interface import BUFFERS, KEEPABLE, Packet
from pymodels.errors import SanlabError
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.stacked import CHIPS, CLUSTER, NIC, NODES, PROFILE, SETTLE_PS, disturb, faults, loses, start
from tb.fuzz.world import World

TASKS = 2
"""Number of tasks of each node, each with its own protocol."""
ANSWERS = 5
"""Protocol number of replies."""
SIZES = (1, 8, 100, 976, 1012)
HEAD = 12
KINDS = (
    *("send", "send", "send", "keep", "keep", "again", "free"),
    *("poll", "pause", "compute", "burst", "interrupts", "bad"),
)
BAD = ("node", "own", "protocol", "empty", "long", "kept", "taken")
LONGEST_PS = 1_000_000_000_000


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, NODES)
    options: dict[str, int | str] = {"routes": draw.one_of((16, 1, 2)), "interrupt_delay_us": draw.one_of((35, 0, 5))}

    def act(one: Draw) -> Act:
        node, task = one.whole(0, nodes - 1), one.whole(0, TASKS - 1)
        values: dict[str, int | str] = {
            "to": (node + one.whole(1, nodes - 1)) % nodes,
            "size": one.one_of(SIZES),
            "number": one.whole(0, 30),
            "answer": one.whole(0, 1),
        }
        kind = one.one_of(KINDS)
        return Act(node, kind, {**values, "what": one.one_of(BAD)} if kind == "bad" else values, task)

    return Program(nodes, NIC, options, faults(draw), tuple(draw.items(act, 40, 150)), chips=CHIPS)


class Node:
    """Tasks and received packets of one node."""

    def __init__(self, hal: Any, cluster: Cluster) -> None:
        self.hal, self.cluster = hal, cluster
        self.kept: list[tuple[int, int, int, bytes]] = []
        """Kept buffers: number, target, protocol and packet."""
        self.room = hal.host.allocate(2048)
        for protocol in (*range(TASKS), ANSWERS):
            hal.on_packet(protocol, partial(self.take, protocol))

    async def take(self, protocol: int, packet: Packet) -> None:
        """Record a packet and reply to some."""
        data = bytes(packet.view)
        self.cluster.came[packet.source, self.hal.me, protocol, data] += 1
        if protocol != ANSWERS and data[4:5] == b"\1":
            answer = b"answer to " + data[:HEAD]
            self.cluster.sent[self.hal.me, packet.source, ANSWERS, answer] += 1
            await self.hal.send(packet.source, ANSWERS, answer)

    def packet(self, act: Act) -> tuple[bytes, bytes]:
        """Return header and data of a new, unique packet."""
        number = self.cluster.next_number()
        head = number.to_bytes(4, "big") + bytes([act.whole("answer")]) + bytes(HEAD - 5)
        return head, bytes((number + 3 * at) & 0xFF for at in range(act.whole("size")))

    async def send(self, act: Act, keep: bool = False) -> None:
        """Send a packet with data from the program or from host memory."""
        head, data = self.packet(act)
        if keep and not self.hal.keepable:
            return
        self.cluster.sent[self.hal.me, act.whole("to"), act.task, head + data] += 1
        given: Any = data
        if act.whole("number") % 2:
            self.hal.host.store_bytes(self.room.address + 1024 * act.task, data)
            given = MemoryRange(self.room.address + 1024 * act.task, len(data))
        buffer = await self.hal.send(act.whole("to"), act.task, head, given, keep)
        if keep:
            self.kept.append((buffer, act.whole("to"), act.task, head + data))

    async def keep(self, act: Act) -> None:
        """Send a packet and keep its buffer."""
        await self.send(act, keep=True)

    async def again(self, act: Act) -> None:
        """Send a kept packet again, with a new header or unchanged."""
        if not self.kept:
            return
        at = act.whole("number") % len(self.kept)
        buffer, to, protocol, packet = self.kept.pop(at)
        head = b"" if act.whole("answer") else self.cluster.next_number().to_bytes(4, "big")
        packet = head + packet[len(head) :]
        self.cluster.sent[self.hal.me, to, protocol, packet] += 1
        await self.hal.again(buffer, head)
        self.kept.append((buffer, to, protocol, packet))

    async def free(self, act: Act) -> None:
        """Free a kept buffer."""
        if self.kept:
            self.hal.free(self.kept.pop(act.whole("number") % len(self.kept))[0])

    async def poll(self, act: Act) -> None:
        """Hand over the received packets."""
        await self.hal.poll()

    async def burst(self, act: Act) -> None:
        """Send more packets than there are receive buffers."""
        for _ in range(2 * act.whole("number")):
            await self.send(act)

    async def pause(self, act: Act) -> None:
        """Wait for packets for a given time."""
        await self.hal.wait(lambda: False, self.hal.host.now + 10_000_000 * act.whole("number"))

    async def compute(self, act: Act) -> None:
        """Compute for a given time."""
        await self.hal.host.compute(10_000 * act.whole("number"))

    async def interrupts(self, act: Act) -> None:
        """Switch interrupt mode on or off."""
        await self.hal.interrupts(bool(act.whole("answer")))

    async def bad(self, act: Act) -> None:
        """Make an invalid call, which must raise."""
        hal, what = self.hal, str(act.values["what"])

        async def handler() -> None:
            hal.on_packet(0, self.take)

        async def freed() -> None:
            hal.free(next(one for one in range(BUFFERS) if one not in hal._sender._kept))

        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "node": partial(hal.send, hal.nodes, 0, b"x"),
            "own": partial(hal.send, hal.me, 0, b"x"),
            "protocol": partial(hal.send, act.whole("to"), 8, b"x"),
            "empty": partial(hal.send, act.whole("to"), 0, b""),
            "long": partial(hal.send, act.whole("to"), 0, b"x", bytes(1024)),
            "kept": freed,
            "taken": handler,
        }
        try:
            await calls[what]()
        except SanlabError:
            return
        self.cluster.wrong.append(f"node {hal.me}: invalid call {what!r} did not raise")


class Cluster:
    """All nodes, with the packets sent and received by source, target, protocol and bytes."""

    def __init__(self, program: Program, world: World) -> None:
        self.program, self.world = program, world
        self.sent: Counter[tuple[int, int, int, bytes]] = Counter()
        self.came: Counter[tuple[int, int, int, bytes]] = Counter()
        self.wrong: list[str] = []
        self._number = 0
        self.nodes = [Node(hal, self) for hal in start("hal", program, world)]

    def next_number(self) -> int:
        """Return the number of a new packet."""
        self._number += 1
        return self._number

    async def task(self, node: Node, task: int) -> None:
        """Run the actions of one task."""
        for act in self.program.acts:
            if (act.node, act.task) == (node.hal.me, task):
                await act.pause(self.world.kernel)
                await getattr(node, act.name)(act)

    async def run(self) -> None:
        """Run all tasks, then let all nodes poll until no packet arrives."""
        kernel = self.world.kernel
        tasks = [kernel.spawn(self.task(node, task), "a task") for node in self.nodes for task in range(TASKS)]
        limit = kernel.now + LONGEST_PS
        while not all(task.finished.done for task in tasks):
            if kernel.now > limit:
                self.wrong += ["some tasks have not finished", *kernel.waiting()]
                return
            await kernel.sleep(SETTLE_PS // 4, "the next look")
        seen = -1
        while seen != sum(self.came.values()):
            seen = sum(self.came.values())
            until = kernel.now + SETTLE_PS
            rest = [kernel.spawn(node.hal.wait(lambda: False, until), "the end") for node in self.nodes]
            for one in rest:
                await one.finished

    async def judge(self) -> list[str]:
        """Return descriptions of unexpected, missing and leftover packets and buffers."""
        wrong = list(self.wrong)
        for key, count in self.came.items():
            source, target, _, data = key
            if count > self.sent[key] and ("double" not in self.program.faults or not self.sent[key]):
                received = f"{data[:HEAD].hex()} from node {source} {count} times"
                wrong.append(f"node {target} received {received}, but it was sent {self.sent[key]} times")
        missing = sum((self.sent - self.came).values())
        dropped = sum([await node.hal.dropped() for node in self.nodes])
        if missing != dropped and not loses(self.program) and "double" not in self.program.faults:
            wrong.append(f"{missing} packets are missing, but {dropped} were dropped")
        for node in self.nodes:
            for buffer, *_ in node.kept:
                node.hal.free(buffer)
            await node.hal.send((node.hal.me + 1) % len(self.nodes), 7, b"asks which orders are read")
            sender = node.hal._sender
            if sender.keepable != KEEPABLE or {*sender._free, *sender._orders} != set(range(BUFFERS)):
                wrong.append(f"node {node.hal.me}: send buffers are lost: {len(sender._free)} of {BUFFERS} are free")
        return wrong


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    cluster = Cluster(program, world)
    for node in cluster.nodes:
        await node.hal.start()
    disturb(program, world)
    await cluster.run()
    world.disturb({})
    return cluster.wrong or await cluster.judge()


FUZZ = Fuzz(program=program, run=run, profile=PROFILE, cluster=CLUSTER)
