"""Mixed fuzz test of Pipes: concurrent streams between all pairs, with interrupts, over a network with every kind of
fault.

Each stream is written and read in pieces of any size by its own tasks, directly or not. It must deliver the written
bytes once and in order. Invalid calls must raise. At the end all bytes are acknowledged, and HAL has its buffers back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pymodels.errors import SanlabError
from pymodels.kernel import Task
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.stacked import CHIPS, CLUSTER, NIC, NODES, PROFILE, SETTLE_PS, disturb, faults, start
from tb.fuzz.world import World

SIZES = (1, 100, 1008, 1009, 3000, 9000)
LONG = 70_000
"""Size larger than a pipe."""
PARTS = (5000, 60, 1008, 2048)
BAD = ("node", "own", "long read", "negative read", "second write")
OPTIONS = {"window": (32, 2, 3, 64), "pipe_bytes": (65_536, 2048, 8192), "timeout_us": (200, 60, 1000)}
LONGEST_PS = 4_000_000_000_000


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, NODES)
    options: dict[str, int | str] = {name: draw.one_of(values) for name, values in OPTIONS.items()}
    options |= {"hal.routes": draw.one_of((16, 1, 2)), "hal.interrupt_delay_us": draw.one_of((0, 35))}

    def act(one: Draw) -> Act:
        node = one.whole(0, nodes - 1)
        to = (node + one.whole(1, nodes - 1)) % nodes
        kind = one.one_of(("write", "write", "write", "write", "flush", "pause", "read", "interrupts", "bad"))
        values: dict[str, int | str] = {"to": to}
        if kind == "write":
            values |= {"size": LONG if one.once_in(60) else one.one_of(SIZES), "direct": one.whole(0, 1)}
        elif kind == "read":
            values |= {"part": one.one_of(PARTS), "us": one.one_of((0, 50, 900))}
        elif kind == "bad":
            values |= {"what": one.one_of(BAD)}
        else:
            values |= {"us": one.one_of((5, 100, 800)), "on": one.whole(0, 1)}
        return Act(node, kind, values)

    return Program(nodes, NIC, options, faults(draw), tuple(draw.items(act, 20, 60)), chips=CHIPS)


class Stream:
    """Writes of one node to another, and how they are read."""

    def __init__(self, program: Program, source: int, target: int) -> None:
        self.source, self.target = source, target
        self.acts = [one for one in program.acts if (one.node, one.whole("to")) == (source, target)]
        self.size = sum(one.whole("size") for one in self.acts if one.name == "write")
        self.most = int(program.options["pipe_bytes"])

    def data(self, begin: int, size: int) -> bytes:
        """Return bytes of the stream from a position."""
        at = np.arange(begin, begin + size)
        return (31 * self.source + 7 * self.target + 3 * at + (at >> 8) * 5).astype(np.uint8).tobytes()


class Cluster:
    """Libraries of all nodes, and the violations found."""

    def __init__(self, program: Program, world: World) -> None:
        self.program, self.world = program, world
        self.pipes = start("pipes", program, world)
        self.wrong: list[str] = []
        pairs = [(a, b) for a in range(program.nodes) for b in range(program.nodes) if a != b]
        self.streams = [Stream(program, *pair) for pair in pairs]

    async def write(self, stream: Stream) -> None:
        """Run the writer of a stream."""
        pipes, written = self.pipes[stream.source], 0
        for act in stream.acts:
            await act.pause(self.world.kernel)
            if act.name == "write":
                size = act.whole("size")
                await pipes.write(stream.target, stream.data(written, size), bool(act.whole("direct")))
                written += size
            elif act.name == "flush":
                await pipes.flush()
            elif act.name == "interrupts":
                await pipes.interrupts(bool(act.whole("on")))
            elif act.name == "pause":
                await pipes.host.sleep(act.whole("us") * 1_000_000, "a pause")
            elif act.name == "bad":
                await self.misuse(pipes, stream, str(act.values["what"]))
        await pipes.flush()

    async def read(self, stream: Stream) -> None:
        """Read a stream in the given parts and with the given pauses."""
        pipes, at, reads = self.pipes[stream.target], 0, 0
        manner = [act for act in stream.acts if act.name == "read"] or [Act(0, "read", {"part": 5000, "us": 0})]
        while at < stream.size:
            act = manner[reads % len(manner)]
            size = min(act.whole("part"), stream.size - at, stream.most)
            data = await pipes.read(stream.source, size)
            if data != stream.data(at, size):
                self.wrong.append(f"node {stream.target}: bytes {at}..{at + size} of node {stream.source} are wrong")
                return
            at, reads = at + size, reads + 1
            if act.whole("us") and reads % 7 == 0:
                await pipes.host.sleep(act.whole("us") * 1_000_000, "a reader that is slow")

    async def misuse(self, pipes: Any, stream: Stream, what: str) -> None:
        """Make an invalid call, which must raise."""
        calls = {
            "node": partial(pipes.write, self.program.nodes, b"x"),
            "own": partial(pipes.write, pipes.me, b"x"),
            "long read": partial(pipes.read, stream.target, stream.most + 1),
            "negative read": partial(pipes.read, stream.target, -1),
            "second write": partial(self.second_write, pipes, stream),
        }
        try:
            await calls[what]()
        except SanlabError:
            return
        self.wrong.append(f"node {pipes.me}: wrong call {what!r} was not refused")

    async def second_write(self, pipes: Any, stream: Stream) -> None:
        """Write to a node to which another task is writing."""
        outgoing = pipes._of(stream.target).outgoing
        outgoing.writing = True
        try:
            await pipes.write(stream.target, b"x")
        finally:
            outgoing.writing = False

    async def run(self) -> None:
        """Run all streams, then let all nodes answer until no packet is outstanding."""
        kernel = self.world.kernel
        tasks = [kernel.spawn(part(one), "a stream") for one in self.streams for part in (self.write, self.read)]
        served = [kernel.spawn(self.serve(pipes, tasks), "the end") for pipes in self.pipes]
        limit = kernel.now + LONGEST_PS
        while not all(task.finished.done for task in (*tasks, *served)):
            if kernel.now > limit:
                self.wrong += ["not all streams have ended", *kernel.waiting()]
                return
            await kernel.sleep(SETTLE_PS, "the next look")

    async def serve(self, pipes: Any, tasks: Sequence[Task]) -> None:
        """Poll on a node until all streams are complete, then answer peers that miss an acknowledgement."""
        while not await pipes.wait(
            lambda: all(task.finished.done for task in tasks), self.world.kernel.now + SETTLE_PS
        ):
            pass
        await pipes.finish()

    def held(self) -> list[str]:
        """Return descriptions of buffers not released."""
        found = []
        for pipes in self.pipes:
            if pipes._hal.keepable != 48:
                found.append(f"node {pipes.me} keeps {48 - pipes._hal.keepable} send buffers of HAL")
            for node, peer in pipes._peers.items():
                out, here = peer.outgoing, peer.incoming.here
                if out.come != out.written or here:
                    found.append(f"node {pipes.me}: {out.written - out.come} bytes to node {node} open, {here} unread")
        return found


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    cluster = Cluster(program, world)
    for pipes in cluster.pipes:
        await pipes.start()
    disturb(program, world)
    await cluster.run()
    if cluster.wrong:
        return cluster.wrong
    world.disturb({})
    await world.kernel.sleep(50 * SETTLE_PS, "what may still come")
    return cluster.held()


FUZZ = Fuzz(program=program, run=run, stands_on=("pipes", "hal"), profile=PROFILE, cluster=CLUSTER)
