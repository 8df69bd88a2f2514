"""The mixed fuzz of GRIM: everything that it offers, at once, against references written from its API."""

from __future__ import annotations

from typing import Any

from firmware.host.grim.enable import clear
from firmware.nic.grim.options import OptionError
from pymodels.formats.grim import Device, Reference
from tb.fuzz.layers.grim.acts import program
from tb.fuzz.layers.grim.cluster import Cluster
from tb.fuzz.layers.grim.messages import Messages
from tb.fuzz.layers.grim.misuse import MISUSES
from tb.fuzz.layers.grim.own_nic import OwnNic
from tb.fuzz.layers.grim.transfers import Transfers
from tb.fuzz.program import Act, Program
from tb.fuzz.world import World

__all__ = ["program", "run"]

LOOK_PS, LONGEST_LOOK_PS = 50_000_000, 2_000_000_000
PATIENCE_PS = 400_000_000_000
"""For all that must come."""
SETTLE_PS = 1_000_000_000
"""In which nothing may come any more."""
LAST_PS = 200_000_000_000
"""For the last answers, and what they free."""


class Application(Messages, Transfers, OwnNic):
    """A node of a program."""

    async def do_misuse(self, act: Act) -> None:
        """A wrong call."""
        misuse = MISUSES[str(act.values["what"])]
        if misuse.argument == "reserve_ni_memory" and self.library.reserved.size:
            return
        to = Reference((self.index + 1) % self.cluster.program.nodes, Device.HOST, 0).pack()
        block = self.memory.of(self.index, "store")[0].va
        await self.call(
            f"misuse: {act.values['what']}",
            lambda: misuse.call(self.library, to, self.numbers["take"], block),
            refused=misuse.argument,
        )

    async def do_go_down(self, act: Act) -> None:
        """The NIC is reset under whatever is under way; some time later node and NIC begin anew."""
        cluster, host, old = self.cluster, self.host, self.library
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
        cluster.begin(self.index)
        cluster.lives[self.index] += 1
        self.library = cluster.parts[self.index].library
        await self.enable()
        cluster.down = None
        await self.settle_in()

    async def do_stop(self, act: Act) -> None:
        """Read nothing for some time."""
        await self.host.sleep(act.whole("us") * 1_000_000, "a host that reads nothing")

    async def do_poll(self, act: Act) -> None:
        """Poll once."""
        await self.call("poll", self.library.poll)

    async def do_poll_channel(self, act: Act) -> None:
        """Poll one endpoint."""
        await self.call(str(act), lambda: self.library.poll(self.channel(act)))


async def run(program: Program, world: World) -> list[str]:
    """Run a program; what was wrong."""
    try:
        cluster = Cluster(program, world)
    except OptionError:
        return []
    world.disturb(program.faults)
    nodes = [Application(cluster, index) for index in range(program.nodes)]
    tasks = [world.kernel.spawn(_node(node, program), f"application {node.index}") for node in nodes]
    return await _judge(cluster, nodes, tasks, world)


async def _node(node: Application, program: Program) -> None:
    await node.bring_up()
    for number in (1, 0):
        acts = [act for act in program.acts if (act.node, act.task) == (node.index, number)]
        if number:
            node.host.spawn(node.task(acts), f"second task {node.index}")
        else:
            await node.task(acts)
    await node.idle(lambda: node.cluster.over)
    if node.library.polling_thread is not None:
        node.library.polling_thread.stop()


async def _judge(cluster: Cluster, nodes: list[Application], tasks: list[Any], world: World) -> list[str]:
    """Wait until all that must come has come, and nothing is held; what was wrong."""
    done = await _until(world, PATIENCE_PS, lambda: _ended(cluster) and not any(cluster.missing()))
    if not done and cluster.may_stand_still:
        world.stood_still()
        return [*cluster.wrong, *cluster.mail.wrong, *cluster.mail.disorder()]
    if not done:
        waits = [] if _ended(cluster) else ["not all nodes have ended", *world.kernel.waiting()]
        return [*cluster.wrong, *cluster.mail.wrong, *cluster.missing(), *waits]
    await world.kernel.sleep(SETTLE_PS, "what may still come")
    held = not await _until(world, LAST_PS, lambda: not any(cluster.held()))
    cluster.over = True
    for task in tasks:
        await task.finished
    wrong = [*cluster.wrong, *cluster.mail.wrong, *cluster.missing(), *cluster.mail.disorder()]
    wrong += cluster.held() if held else []
    wrong += [line for node in nodes for line in (*node.wrong_memory(), *node.wrong_ni_memory())]
    return wrong + cluster.memory.check_frozen(nodes[0].load_of)


def _ended(cluster: Cluster) -> bool:
    return cluster.at_end == 2 * cluster.program.nodes


async def _until(world: World, patience: int, over: Any) -> bool:
    """Look again and again, at growing distances, whether something holds."""
    pause, limit = LOOK_PS, world.kernel.now + patience
    while not over():
        if world.kernel.now > limit:
            return False
        await world.kernel.sleep(pause, "the next look")
        pause = min(2 * pause, LONGEST_LOOK_PS)
    return True
