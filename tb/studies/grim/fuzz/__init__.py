"""Fuzz test of GRIM: all features at once, checked against references written from its API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.grim.formats import COUNTER_MASK, Device, Reference
from firmware.grim.host.enable import clear
from firmware.grim.nic.layout import Word
from firmware.options import OptionError
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.program import Act, Program
from tb.fuzz.world import World, until
from tb.studies.grim.fuzz.acts import program, program_in_c
from tb.studies.grim.fuzz.bad_transfers import BadTransfers
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.foreign import SORTS, foreign
from tb.studies.grim.fuzz.messages import NAMES, RARE, Messages
from tb.studies.grim.fuzz.misplaced import misplaced
from tb.studies.grim.fuzz.misuse import MISUSES
from tb.studies.grim.fuzz.node import Node
from tb.studies.grim.fuzz.own_nic import OwnNic
from tb.studies.grim.fuzz.transfers import Transfers

PATIENCE_PS = 400_000_000_000
"""Maximum time in ps until everything has arrived."""
SETTLE_PS = 1_000_000_000
"""Time in ps after the end in which nothing may arrive."""
FORGOTTEN = 100
"""Number of epochs that a restarted NIC forgets."""
LAST_PS = 200_000_000_000
"""Maximum time in ps for the last answers, and what they free."""


class Application:
    """Application of one node: its start, and its actions, which are methods of its parts."""

    def __init__(self, cluster: Cluster, index: int) -> None:
        self.node = Node(cluster, index)
        self.cluster, self.index, self.host = self.node.cluster, self.node.index, self.node.host
        self.mail, self.memory, self.ledger = self.node.mail, self.node.memory, self.node.ledger
        self.transfers = Transfers(self.node)
        self.bad_transfers = BadTransfers(self.node, self.transfers)
        self.own_nic = OwnNic(self.node)
        self.messages = Messages(self.node, self.transfers)
        self.parts: tuple[Any, ...] = (self, self.messages, self.transfers, self.bad_transfers, self.own_nic)
        """Parts whose methods `do_...` are the actions."""

    # ---- start

    async def bring_up(self) -> None:
        """Enable GRIM, synchronise the handlers, and allocate the memory that the actions use."""
        node, cluster = self.node, self.cluster
        await self._enable()
        if node.index == 0:
            await node.library.wait_for(lambda: node.library.nodes_served == cluster.program.nodes - 1)
        await self.settle_in()
        cluster.up += 1
        await node.idle(lambda: cluster.up == cluster.program.nodes)

    async def _enable(self) -> None:
        """Enable GRIM and synchronise the handlers."""
        library = self.node.library
        self.own_nic.reserve(library)
        self.publish()
        await library.grim_enable()
        await library.sync_handlers()

    def publish(self) -> None:
        """Register the handlers that actions send messages to."""
        for name in (*NAMES, *([RARE] if self.index % 2 == 0 else [])):
            self.node.library.register_handler(self.messages.handler(name), name)

    async def settle_in(self) -> None:
        """Resolve all handlers, and allocate the memory that the actions use."""
        library = self.node.library
        self.node.numbers = {name: await library.resolve_handler(name) for name in (*NAMES, RARE)}
        await self.transfers.allocate_own()

    async def task(self, acts: list[Act]) -> None:
        """Execute actions in order."""
        for act in acts:
            name = "do_" + act.name.replace(" ", "_")
            part = next(one for one in self.parts if hasattr(one, name))
            await act.pause(self.cluster.world.kernel)
            await getattr(part, name)(act)
        self.cluster.at_end += 1

    # ---- acts on the library and the node

    async def do_misuse(self, act: Act) -> None:
        """Make an invalid call."""
        misuse = MISUSES[str(act.values["what"])]
        if misuse.argument == "reserve_ni_memory" and self.node.library.reserved.size:
            return
        to = Reference((self.index + 1) % self.cluster.program.nodes, Device.HOST, 0).pack()
        block = self.memory.blocks_of(self.index, "store")[0].va
        await self.node.call(
            f"misuse: {act.values['what']}",
            lambda: misuse.call(self.node.library, to, self.node.numbers["take"], block),
            refused=misuse.argument,
        )

    async def do_go_down(self, act: Act) -> None:
        """Reset the NIC under load, and restart node and NIC after some time, perhaps with an epoch that was lost."""
        cluster, host, old = self.cluster, self.host, self.node.library
        await cluster.world.reset(self.index)
        cluster.down = self.index
        self.mail.part(self.index)
        self.memory.part(self.index, self.mail.event())
        for ledger in cluster.ledgers:
            ledger.excuse(f"VNN {self.index}")
            ledger.excuse(f"node {self.index},")
            for words in (f"VNN {self.index} does not answer", f"did not reach VNN {self.index}"):
                ledger.allow("a node that is down", "destination", words)
        self.ledger.excuse()
        for words in ("does not answer", "did not reach"):
            self.ledger.allow("its own going down", "destination", words)
        await old.host.sleep(act.whole("us") * 1_000_000, "a host that is down")
        await clear(host, old.layout)
        if act.values.get("forgets"):
            nic = cluster.world.nics[self.index]
            nic.store(Word.BEGINNINGS, nic.load(Word.BEGINNINGS) - FORGOTTEN & COUNTER_MASK)
        cluster.begin(self.index)
        cluster.lives[self.index] += 1
        self.node.library = cluster.parts[self.index].library
        await self._enable()
        cluster.down = None
        await self.settle_in()

    async def do_stop(self, act: Act) -> None:
        """Stop reading for some time."""
        await self.host.sleep(act.whole("us") * 1_000_000, "a host that reads nothing")

    async def do_stand_still(self, act: Act) -> None:
        """Suspend the host, including its driver, for some time."""
        self.cluster.world.stand_still(self.index, act.whole("us") * 1_000_000)

    async def do_insert(self, act: Act) -> None:
        """Insert a packet that no NIC has sent."""
        node = act.whole("to") % self.cluster.program.nodes
        part, sort, number = self.cluster.parts[node], str(act.values["sort"]), act.whole("bytes")
        if sort in SORTS:
            packet = foreign(part.ni, sort, number)
        else:
            packet = misplaced(part.firmware, self.cluster.program, sort, number)
        if packet:
            self.cluster.world.insert(node, packet)

    async def do_poll(self, act: Act) -> None:
        """Poll once."""
        await self.node.call("poll", self.node.library.poll)

    async def do_poll_channel(self, act: Act) -> None:
        """Poll one endpoint."""
        await self.node.call(str(act), lambda: self.node.library.poll(self.node.channel(act)))

    def wrong(self) -> list[str]:
        """Return a description of each wrong memory content at the end."""
        return [*self.transfers.wrong_memory(), *self.own_nic.wrong_ni_memory()]


async def run(
    program: Program,
    world: World,
    made: Callable[[Program, World], Any] = Cluster,
    application: Callable[[Any, int], Application] = Application,
) -> list[str]:
    """Run a program, and return a description of each violation.

    Args:
        program: Program to run.
        world: Machine that runs it.
        made: Creates the cluster; other fuzz tests extend it.
        application: Creates the application of a node; other fuzz tests extend it.
    """
    try:
        cluster = made(program, world)
    except OptionError:
        return []
    await cluster.load()
    world.disturb(program.faults)
    applications = [application(cluster, index) for index in range(program.nodes)]
    tasks = [world.kernel.spawn(_live(one, program), f"application {one.node.index}") for one in applications]
    return await _judge(cluster, applications, tasks, world)


async def _live(application: Application, program: Program) -> None:
    node = application.node
    await application.bring_up()
    for number in (1, 0):
        acts = [act for act in program.acts if (act.node, act.task) == (node.index, number)]
        if number:
            node.host.spawn(application.task(acts), f"second task {node.index}")
        else:
            await application.task(acts)
    await node.idle(lambda: node.cluster.over)
    if node.library.polling_thread is not None:
        node.library.polling_thread.stop()


async def _judge(cluster: Cluster, applications: list[Application], tasks: list[Any], world: World) -> list[str]:
    """Wait until everything has arrived and nothing is held; return a description of each violation."""
    done = await until(world, PATIENCE_PS, lambda: _ended(cluster) and not any(cluster.missing()))
    if not done and cluster.may_stand_still:
        world.stood_still()
        return [*cluster.wrong, *cluster.mail.wrong, *cluster.mail.disorder()]
    if not done:
        waits = [] if _ended(cluster) else ["not all nodes have ended", *world.kernel.waiting()]
        return [*cluster.wrong, *cluster.mail.wrong, *cluster.missing(), *waits]
    await world.kernel.sleep(SETTLE_PS, "what may still come")
    held = not await until(world, LAST_PS, lambda: not any(cluster.held()))
    cluster.over = True
    for task in tasks:
        await task.finished
    wrong = [*cluster.wrong, *cluster.mail.wrong, *cluster.missing(), *cluster.mail.disorder()]
    wrong += cluster.held() if held else []
    for one in applications:
        wrong += one.wrong()
    return wrong + cluster.memory.check_frozen(applications[0].transfers.load_of)


def _ended(cluster: Cluster) -> bool:
    return cluster.at_end == 2 * cluster.program.nodes


FUZZ = Fuzz(program=program, run=run, program_in_c=program_in_c)
