"""Channels by configuration: random CHANNEL lines of each host, and a process of a host as an endpoint.

The lines connect the card of a host and its process to channels of their own. The process sends messages through the
shared circuit of any card, and must receive each result itself. The host polls the other channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from firmware.grim.host import GrimError
from firmware.grim.host.processes import Process
from firmware.view import ClusterView
from pymodels.config.grammar import connection_of
from pymodels.config.lines import Line
from pymodels.config.model import FPGA_CARD, HOST_QUEUE, PROCESS, Connection
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Value
from tb.studies.cards.fuzz.acts import RESULT, SHARED, CardActs
from tb.studies.grim.fuzz.node import CHECK, MASK, Node

NAME = "viewer"
"""Name of the process of a host."""
HOST_LINE, FILE = "node {}", "configuration of node {}"
POLL_PS = 5_000_000
"""Time between two polls of a process, ps."""
SIZES = 3000
"""Maximum bytes of a message of a process."""
BURST = 3


def drawn(draw: Draw, nodes: int, channels: int) -> dict[str, Value]:
    """Return random CHANNEL lines of each node, separated by commas."""
    return {HOST_LINE.format(node): _lines(draw, channels) for node in range(nodes)}


def _lines(draw: Draw, channels: int) -> str:
    free = list(range(1, channels))
    found: list[str] = []
    for endpoint in (FPGA_CARD, f"{PROCESS} {NAME}", HOST_QUEUE):
        last = endpoint != FPGA_CARD and len(free) == 1  # for the card, unless a line has connected it
        if draw.once_in(3) or not free or (last and not any(FPGA_CARD in line for line in found)):
            continue
        found.append(f"{free.pop(draw.whole(0, len(free) - 1))} {endpoint}")
    return ", ".join(found)


def connected(view: ClusterView, asked: Mapping[str, Value], nodes: int) -> ClusterView:
    """Return the view of a node in a cluster whose configuration has the drawn lines."""
    if not asked:
        return view
    return replace(view, channels=tuple(_connections(node, asked) for node in range(nodes)))


def _connections(node: int, asked: Mapping[str, Value]) -> tuple[Connection, ...]:
    text, file = str(asked.get(HOST_LINE.format(node), "")), FILE.format(node)
    words = [tuple(line.split()) for line in text.split(",") if line.strip()]
    lines = [Line(file, number, ("CHANNEL", *line)) for number, line in enumerate(words, 1)]
    found = [connection_of(line, (FPGA_CARD,), file) for line in lines]
    return tuple(sorted(found, key=lambda one: one.channel))


class Viewer:
    """Acts of the process of a node."""

    def __init__(self, node: Node, cards: CardActs, now: Callable[[], int]) -> None:
        self.node, self._cards, self._now = node, cards, now
        self._process: Process | None = node.library.processes.get(NAME)

    def publish(self) -> None:
        """Register the process's handler of results."""
        if self._process is not None:
            self._process.register_handler(self._result, RESULT)

    def _result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        assert self._process is not None
        channels = (self._process.channel,)
        self._cards.jobs.arrive(self._now(), self.node.index, source, (a0, a1, a2), bytes(payload), channels)

    async def begin(self) -> None:
        """Let the process learn the handlers while its host polls, and poll until the program has ended."""
        if self._process is None:
            return
        await self.node.beside(self._process.sync_handlers(), f"process of node {self.node.index}")
        self.node.host.spawn(self._poll(self._process), f"polls of the process of node {self.node.index}")

    async def _poll(self, process: Process) -> None:
        while not self.node.cluster.over:
            try:
                await process.poll()
            except GrimError as error:
                self.node.wrong(f"its process: {error}")
            await self.node.host.sleep(POLL_PS, "the next poll of a process")

    async def do_card_process(self, act: Act) -> None:
        """Send messages of the process through the shared circuit of a card and back."""
        node, process, jobs = self.node, self._process, self._cards.jobs
        if process is None:
            return
        card = act.whole("to") % node.cluster.program.nodes
        for _ in range(BURST):
            await node.idle(lambda: not jobs.taken[card])
            size = act.whole("bytes") % SIZES
            job = jobs.begin(
                self._now(), card, SHARED, act.whole("argument"), size, (node.index, process.channel), node.index
            )
            words = job.argument, job.number, job.number * CHECK & MASK, node.numbers[RESULT]
            try:
                await process.send(self._cards.reference(card), node.numbers[SHARED], *words, job.payload)
            except GrimError as error:
                node.wrong(f"{job}, sent by its process: {error}")
