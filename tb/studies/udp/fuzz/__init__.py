"""Mixed fuzz test of UDP: two processes a node with a socket each, `recvfrom`, `select` and SIGIO, on a faulty network.

Each received datagram must have been sent from that port to this one, and must be complete or cut to the receive
memory. It arrives once, in the order of the two ports, unless the network duplicates or reorders frames. Missing
datagrams must equal the counted drops, unless the network loses frames. Invalid calls must raise with their error
number. At the end every buffer must be free.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Any

from firmware.layers import host_library, nic_program
from firmware.udp.host import Received, Socket, Udp, UdpError
from firmware.udp.host.driver import SPARE
from firmware.udp.nic.layout import ORDERS
from pymodels.host import Sig
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw, fit, nics
from tb.fuzz.program import Act, Program, Value
from tb.fuzz.world import FAULTS, World

NIC = nics("udp", often=3)
TASKS = 2
"""Number of processes of a node."""
PORT = 2049
"""Port of a node's first process."""
ROOM = 1 << 16
"""Bytes of a process's send memory, and of its receive memory."""
SIZES = (4, 0, 1, 28, 700, 1473, 4096, 8972, 8973, 20000, 40000)
MOST_ROOM = 1 << 18
KINDS = (
    *("send", "send", "send", "send", "burst", "receive", "receive", "select"),
    *("room", "signals", "peer", "anew", "compute", "bad"),
)
BAD: dict[str, str] = {
    "node": "ENETUNREACH",
    "own": "ENETUNREACH",
    "port": "EADDRNOTAVAIL",
    "long": "EMSGSIZE",
    "nowhere": "EFAULT",
    "taken": "EADDRINUSE",
    "twice": "EINVAL",
    "room": "EINVAL",
    "nothing": "EINVAL",
    "other": "EBADF",
}
"""Invalid calls and their error numbers."""
LOOK_PS, SETTLE_PS, LONGEST_PS = 50_000_000, 2_000_000_000, 1_000_000_000_000


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes, nic = draw.whole(2, 4), draw.one_of(NIC)
    options: dict[str, Value] = {
        "mtu": draw.one_of((9000, 576, 1500, 4096)),
        "receive_bytes": draw.one_of((65536, 4096, 262144)),
        "partial_bytes": draw.one_of((262144, 65536)),
    }
    if not fit("udp", options, nodes, nic):
        options["mtu"] = 576
    rates = {name: draw.one_of((10, 60)) for name in FAULTS if draw.once_in(4)}

    def act(one: Draw) -> Act:
        node, task = one.whole(0, nodes - 1), one.whole(0, TASKS - 1)
        values: dict[str, int | str] = {
            "to": (node + one.whole(1, nodes - 1)) % nodes,
            "port": PORT + one.whole(0, TASKS - 1),
            "size": one.one_of(SIZES),
            "number": one.whole(0, 30),
        }
        kind = one.one_of(KINDS)
        return Act(node, kind, {**values, "what": one.one_of(tuple(BAD))} if kind == "bad" else values, task)

    faults = {**rates, "seed": draw.whole(0, 1 << 16)} if rates else {}
    return Program(nodes, nic, options, faults, tuple(draw.items(act, 40, 120)))


class Endpoint:
    """Process with its socket."""

    def __init__(self, udp: Udp, task: int, cluster: Cluster) -> None:
        self.udp, self.node, self.cluster = udp, udp.me, cluster
        self.port = PORT + task
        self.process = udp.host.process(f"task {task}")
        self.memory = self.process.allocate(3 * ROOM)
        self.socket: Socket
        self.begun = False
        """True once the process has a socket."""

    async def open(self) -> None:
        """Open a socket and bind its port."""
        self.socket = await self.udp.socket(self.process)
        await self.socket.bind(self.port)
        self.process.on_signal(Sig.IO, self.on_sigio)
        self.begun = True

    async def on_sigio(self, sig: Sig) -> None:
        """Handle SIGIO, possibly within a receive call: receive all datagrams, into separate memory."""
        while self.begun and not self.socket.closed and await self.take(ROOM, self.memory + 2 * ROOM):
            pass

    async def take(self, room: int, at: int = 0) -> bool:
        """Receive a datagram if there is one. Return True if there was."""
        at = at or self.memory + ROOM
        try:
            got = await self.socket.recvfrom(at, room, wait=False)
        except UdpError as refused:
            if refused.code not in ("EAGAIN", "EBADF"):
                raise
            return False
        self.cluster.came(self, got, self.process.load_bytes(at, got.size))
        return True

    async def rest(self) -> None:
        """Receive all datagrams."""
        while await self.take(ROOM):
            pass

    # ---- acts

    async def send(self, act: Act) -> None:
        """Send a datagram, which is unique if it has 4 bytes or more."""
        to, port, data = act.whole("to"), act.whole("port"), self.cluster.new(act.whole("size"))
        self.process.store_bytes(self.memory, data)
        self.cluster.sent[self.node, self.port, to, port].append(data)
        await self.socket.sendto(self.memory, len(data), to, port)

    async def burst(self, act: Act) -> None:
        """Send many datagrams."""
        for _ in range(act.whole("number")):
            await self.send(act)

    async def receive(self, act: Act) -> None:
        """Receive all datagrams, sometimes into too little memory."""
        for _ in range(act.whole("number")):
            if not await self.take(ROOM if act.whole("number") % 4 else 100):
                return

    async def select(self, act: Act) -> None:
        """Wait for a datagram for a given time; it must then be present, or have a wrong checksum."""
        if await self.udp.select(self.process, [self.socket], 20_000 * act.whole("number")):
            await self.take(ROOM)

    async def room(self, act: Act) -> None:
        """Change the room for datagrams."""
        await self.socket.set_room(1 + act.whole("size") * 4)

    async def signals(self, act: Act) -> None:
        """Enable or disable SIGIO for datagrams."""
        await self.socket.set_async(bool(act.whole("number") % 2))

    async def peer(self, act: Act) -> None:
        """Accept datagrams of one peer only."""
        await self.socket.connect(act.whole("to"), act.whole("port"))

    async def anew(self, act: Act) -> None:
        """Replace the socket by another with the same port, which drops its datagrams."""
        self.cluster.forgets = True
        await self.socket.close()
        await self.open()

    async def compute(self, act: Act) -> None:
        """Compute for a given time."""
        await self.process.compute(10_000 * act.whole("number"))

    async def bad(self, act: Act) -> None:
        """Make an invalid call, which must raise."""
        what, memory, to = str(act.values["what"]), self.memory, (act.whole("to"), PORT)
        other = self.cluster.all[(self.node * TASKS + self.port - PORT + 1) % len(self.cluster.all)]

        async def taken() -> None:
            await (await self.udp.socket(self.process)).bind(self.port)

        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "node": partial(self.socket.sendto, memory, 4, self.udp.nodes, PORT),
            "own": partial(self.socket.sendto, memory, 4, self.node, PORT),
            "port": partial(self.socket.sendto, memory, 4, to[0], 0),
            "long": partial(self.socket.sendto, memory, 65508, *to),
            "nowhere": partial(self.socket.sendto, 16, 4, *to),
            "taken": taken,
            "twice": partial(self.socket.bind, 7),
            "room": partial(self.socket.set_room, 0),
            "nothing": partial(self.udp.select, self.process, []),
            "other": partial(self.udp.select, self.process, [other.socket]),
        }
        try:
            await calls[what]()
        except UdpError as refused:
            if refused.code == BAD[what]:
                return
        self.cluster.wrong.append(f"node {self.node}: wrong call {what!r} was not refused by {BAD[what]}")


class Cluster:
    """All processes, with the datagrams sent and received by node and port of both ends."""

    def __init__(self, program: Program, world: World) -> None:
        self.program, self.world = program, world
        self.sent: dict[tuple[int, int, int, int], list[bytes]] = {}
        self.arrived: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
        """Arrival time and number of each datagram."""
        self.wrong: list[str] = []
        self.forgets = False
        """True if a socket with datagrams may have been closed."""
        self._number = 0
        self.udps: list[Udp] = []
        for node in range(program.nodes):
            view, nic = world.view(node, program.options), world.nics[node]
            nic.spawn(nic_program("udp")(nic, view), "udp program")
            self.udps.append(host_library("udp")(world.hosts[node], view))
        self.all = [Endpoint(udp, task, self) for udp in self.udps for task in range(TASKS)]
        for one in self.all:
            for other in self.all:
                self.sent[one.node, one.port, other.node, other.port] = []

    def new(self, size: int) -> bytes:
        """Return the bytes of a datagram, derived from its number."""
        self._number += 1
        return (self._number.to_bytes(4, "big") + Random(self._number).randbytes(max(0, size - 4)))[:size]

    def came(self, one: Endpoint, got: Received, data: bytes) -> None:
        """Check a received datagram against those sent."""
        way = got.node, got.port, one.node, one.port
        due = self.sent.get(way, [])
        at = next((at for at, each in enumerate(due) if (len(each), each[: len(data)]) == (got.whole, data)), None)
        if len(data) >= 4:
            self.arrived.setdefault(way, []).append((got.arrived, int.from_bytes(data[:4], "big")))
        if at is not None:
            del due[at]
        elif "double" not in self.program.faults:
            self.wrong.append(f"node {one.node}: {got} of which {data[:8].hex()} was not sent, or has come before")

    @staticmethod
    def _lost(udp: Udp) -> int:
        """Return the number of datagrams dropped by a host's kernel, including possible drops for lack of buffers."""
        kernel = udp.kernel
        return sum(kernel.lost.values()) + kernel.driver.short + kernel.given_up

    async def task(self, one: Endpoint) -> None:
        """Run the actions of one process."""
        for act in self.program.acts:
            if (act.node, PORT + act.task) == (one.node, one.port):
                await act.pause(self.world.kernel)
                await getattr(one, act.name)(act)

    async def run(self) -> None:
        """Run all actions, then receive on all processes until no datagram arrives."""
        kernel = self.world.kernel
        tasks = [one.process.spawn(self.task(one), "acts") for one in self.all]
        limit = kernel.now + LONGEST_PS
        while not all(task.finished.done for task in tasks):
            if kernel.now > limit:
                self.wrong += ["not all processes have ended", *kernel.waiting()]
                return
            await kernel.sleep(LOOK_PS, "the next look")
        self.world.disturb({})
        await kernel.sleep(SETTLE_PS, "what is under way")
        ends = [one.process.spawn(one.rest(), "the end") for one in self.all]
        for end in ends:
            await end.finished

    async def judge(self) -> list[str]:
        """Return descriptions of missing datagrams and of buffers not released."""
        wrong = list(self.wrong)
        for way, came in self.arrived.items():
            numbers = [number for _, number in sorted(came)]
            if numbers != sorted(numbers) and not {"reorder", "double"} & {*self.program.faults}:
                wrong.append(f"datagrams from node {way[0]} to node {way[2]} came out of their order: {numbers}")
        dropped = [await udp.dropped() + await udp.damaged() for udp in self.udps]
        for udp, frames in zip(self.udps, dropped, strict=True):
            missing = sum(len(due) for (*_, to, _), due in self.sent.items() if to == udp.me)
            counted = self._lost(udp)
            if not self.program.faults and not self.forgets and not frames and missing != counted:
                wrong.append(f"node {udp.me}: {missing} datagrams have not come, and {counted} were dropped")
            driver, partial_frames = udp.kernel.driver, udp.kernel._partial._partial.values()
            waiting = sum(len(partial.parts) for partial in partial_frames)
            if len(driver._free) + waiting != SPARE:
                wrong.append(f"node {udp.me}: {len(driver._free)} of {SPARE} receive buffers are free, {waiting} wait")
            if len(driver._free_send) + len(driver._orders) != ORDERS:
                wrong.append(f"node {udp.me}: send buffers are lost: {len(driver._free_send)} are free")
        return wrong


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    cluster = Cluster(program, world)
    for udp in cluster.udps:
        await udp.start()
    opened = [one.process.spawn(one.open(), "open") for one in cluster.all]
    for task in opened:
        await task.finished
    world.disturb(program.faults)
    await cluster.run()
    return cluster.wrong or await cluster.judge()


FUZZ = Fuzz(program=program, run=run)
