"""Fuzz test of layers whose processes send requests and answer them: HPAM, SSAM and AM.

Several programs, each with a process on every node, share the cards. Guarantees:

- Every request is handled once, by the process of its program on the addressed node, with the words and bytes sent.
- Every answer arrives once at the sender of the request.
- A layer that keeps order delivers the requests of one process to another in order.
- Each invalid call is rejected, and no valid one is.
- At the end no request is unanswered, everything closes, and the layer holds no resources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from firmware.layers import host_library
from pymodels.errors import SanlabError
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.world import World

SIZES = (0, 4, 27, 28, 44, 300, 1200, 1980)
BAD = ("node", "self", "words", "word", "long", "handler", "key")
LONGEST_PS = 1_500_000_000_000
SETTLE_PS = 200_000_000


@dataclass(frozen=True)
class Rules:
    """Guarantees of one layer."""

    layer: str
    nodes: int
    """Maximum number of nodes."""
    ordered: bool
    held: Callable[[Sequence[Any]], list[str]]
    """Function that returns a description of each resource that the libraries of all nodes still hold wrongly."""
    process: type[Process]
    """Class of the layer's processes."""


@dataclass(frozen=True)
class Choice:
    """Ranges from which a layer's acts are drawn."""

    programs: int = 3
    """Maximum number of programs."""
    words: int = 8
    sizes: Sequence[int] = SIZES
    bad: Sequence[str] = BAD
    own: Mapping[str, Callable[[Draw], dict[str, int | str]]] = field(default_factory=dict)
    """Acts of this layer only, each with a function that draws its values for another node."""


def acts(draw: Draw, nodes: int, choice: Choice = Choice()) -> tuple[Act, ...]:
    """Draw the acts of all processes; `task` is the number of the program."""
    programs = draw.whole(1, choice.programs)
    kinds = ("request", "request", "request", "poll", "compute", "bad", *choice.own)

    def request(one: Draw) -> dict[str, int | str]:
        answer = "nothing", "all of it"
        return {"words": one.whole(0, choice.words), "bytes": one.one_of(choice.sizes), "answer": one.one_of(answer)}

    to_others = {"request": request, **choice.own}

    def act(one: Draw) -> Act:
        node, task = one.whole(0, nodes - 1), one.whole(0, programs - 1)
        kind = one.one_of(kinds)
        if kind in to_others:
            to = (node + one.whole(1, nodes - 1)) % nodes
            return Act(node, kind, {"to": to, **to_others[kind](one)}, task)
        if kind == "compute":
            return Act(node, kind, {"us": one.one_of((1, 20, 400))}, task)
        return Act(node, kind, {"what": one.one_of(choice.bad)} if kind == "bad" else {}, task)

    return tuple(draw.items(act, 30, 120))


@dataclass
class Process:
    """Process of one program on one node."""

    cluster: Cluster
    node: int
    key: int
    port: Any = None
    asked: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Number of the last request to each node."""
    waiting: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """Expected answer to each request, by its number."""

    async def open(self) -> None:
        """Open the layer."""
        self.port = await self.cluster.layers[self.node].open([self.take, self.answer, self.answered], self.key)

    async def take(self, call: Any) -> None:
        """Handle a request without an answer."""
        self.cluster.arrived(self, call)

    async def answer(self, call: Any) -> None:
        """Handle a request and answer it with its own content."""
        self.cluster.arrived(self, call)
        await call.reply(self.answered, *call.arguments, data=call.data)

    async def answered(self, call: Any) -> None:
        """Check an answer."""
        number = self.cluster.number_of(call)
        if self.waiting.pop(number, None) != (call.source, call.arguments, call.data):
            self.cluster.wrong.append(f"{self}: unexpected answer {number} of node {call.source}")

    async def perform(self, act: Act) -> None:
        """Execute an act by the method of its name."""
        await getattr(self, act.name)(act)

    async def compute(self, act: Act) -> None:
        """Use the CPU for some time."""
        await self.port.process.compute(1000 * act.whole("us"))

    async def poll(self, act: Act) -> None:
        """Run the handlers of received messages."""
        await self.port.poll()

    async def finish(self) -> None:
        """Poll after the last act until all programs have ended."""
        await self.port.until(self.cluster.over, "the end of all programs")

    async def close(self) -> None:
        """Close the port."""
        await self.port.close()

    def changed(self) -> list[str]:
        """Return a description of each layer-specific resource with an unexpected final state."""
        return []

    async def request(self, act: Act) -> None:
        """Send a request to another node."""
        to, number = act.whole("to"), self.cluster.next_number()
        random = Random(number)
        words = tuple(random.getrandbits(32) for _ in range(act.whole("words")))[1:]
        data = random.randbytes(act.whole("bytes"))
        message = (number, *words), data
        self.cluster.sent[to, self.key].append((self.node, *message))
        answered = act.values["answer"] != "nothing"
        if answered:
            self.waiting[number] = (to, *message)
        await self.port.request(to, self.answer if answered else self.take, *message[0], data=data)

    def misuses(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """Return invalid calls by name."""
        nodes, port = len(self.cluster.layers), self.port
        other = (self.node + 1) % nodes
        return {
            "node": partial(port.request, nodes, self.take),
            "self": partial(port.request, self.node, self.take),
            "words": partial(port.request, other, self.take, *range(9)),
            "word": partial(port.request, other, self.take, -1),
            "long": partial(port.request, other, self.take, data=bytes(4097)),
            "handler": partial(port.request, other, self.cluster.wrong.append),
            "key": partial(self.cluster.layers[self.node].open, [self.take], self.key),
        }

    async def bad(self, act: Act) -> None:
        """Make an invalid call, which must be rejected."""
        what = str(act.values["what"])
        try:
            await self.misuses()[what]()
        except SanlabError:
            return
        self.cluster.wrong.append(f"{self}: invalid call {what!r} was not rejected")

    def __str__(self) -> str:
        return f"process of program {self.key} on node {self.node}"


class Cluster:
    """Libraries of all nodes, and the messages sent."""

    def __init__(self, rules: Rules, program: Program, world: World) -> None:
        self.rules, self.world = rules, world
        library = host_library(rules.layer)
        self.layers = [library(world.hosts[node], world.view(node, program.options)) for node in range(program.nodes)]
        keys = range(1, 2 + max((act.task for act in program.acts), default=0))
        self.processes = [rules.process(self, node, key) for node in range(program.nodes) for key in keys]
        self.sent: dict[tuple[int, int], list[tuple[Any, ...]]] = {(one.node, one.key): [] for one in self.processes}
        """Requests in flight (source, words, bytes), by target node and program."""
        self.wrong: list[str] = []
        self._number = 0
        self._running = 0

    def next_number(self) -> int:
        """Return the number of the next request of all programs."""
        self._number += 1
        return self._number

    @staticmethod
    def number_of(call: Any) -> int:
        """Return the first word of a message, or -1 if it has none."""
        return int(call.arguments[0]) if call.arguments else -1

    def arrived(self, process: Process, call: Any) -> None:
        """Check a received request."""
        due = self.sent[process.node, process.key]
        message = call.source, call.arguments, call.data
        if message not in due:
            self.wrong.append(f"{process}: unexpected request {call.arguments[:1]} of node {call.source}")
            return
        if self.rules.ordered and next(one for one in due if one[0] == call.source) != message:
            self.wrong.append(f"{process}: request {call.arguments[0]} of node {call.source} out of order")
        due.remove(message)

    def over(self) -> bool:
        """Return True if all acts are done, and all requests have arrived and are answered."""
        open_yet = any(one.port.unanswered or one.waiting for one in self.processes)
        return not self._running and not open_yet and not any(self.sent.values())

    async def run(self, program: Program) -> None:
        """Run all processes, which execute their acts and then poll until everything is done."""
        await self.world.kernel.sleep(1, "the start")
        self._running = len(self.processes)
        tasks = [self.world.kernel.spawn(self._process(one, program), str(one)) for one in self.processes]
        limit = self.world.kernel.now + LONGEST_PS
        while not all(task.finished.done for task in tasks):
            if self.world.kernel.now > limit:
                self.wrong += ["not all processes have ended", *self.world.kernel.waiting()]
                return
            await self.world.kernel.sleep(SETTLE_PS, "the next check")

    async def _process(self, process: Process, program: Program) -> None:
        for act in program.acts:
            if (act.node, act.task + 1) == (process.node, process.key):
                await act.pause(self.world.kernel)
                await process.perform(act)
        self._running -= 1
        await process.finish()


async def run(rules: Rules, program: Program, world: World) -> list[str]:
    """Run a program and return its failures."""
    cluster = Cluster(rules, program, world)
    for layer in cluster.layers:
        await layer.start()
    for process in cluster.processes:
        await process.open()
    world.disturb(program.faults)
    await cluster.run(program)
    world.disturb({})
    if cluster.wrong:
        return cluster.wrong
    for process in cluster.processes:
        await process.close()
    await world.kernel.sleep(SETTLE_PS, "late messages")
    changed = [line for process in cluster.processes for line in process.changed()]
    return [*cluster.wrong, *changed, *rules.held(cluster.layers)]
