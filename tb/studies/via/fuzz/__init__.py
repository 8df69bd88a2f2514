"""Mixed fuzz test of VIA: connections that use all operations concurrently, checked against reference models.

The reference models are written from the text of the specification.
"""

from __future__ import annotations

from firmware.options import OptionError
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.program import Act, Program
from tb.fuzz.world import World, until
from tb.studies.via.fuzz.acts import program
from tb.studies.via.fuzz.cluster import Cluster
from tb.studies.via.fuzz.dispatch import perform
from tb.studies.via.fuzz.link import Link

SETTLE_PS = 2_000_000_000
LONGEST_PS = 1_500_000_000_000
LAST_PS = 200_000_000_000
"""Time for the remaining operations of hostile connections, which stay open and still send what they have posted, ps.
"""


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return a description of each error."""
    try:
        cluster = Cluster(program, world)
    except OptionError:
        return []
    await cluster.start()
    world.disturb(program.faults)
    links = [Link(cluster, act) for act in program.acts if act.name == "connection"]
    tasks = [world.kernel.spawn(_link(link, program.acts), f"link {link.act.node}") for link in links]
    limit = world.kernel.now + LONGEST_PS
    while not all(task.finished.done for task in tasks):
        if world.kernel.now > limit:
            return [*cluster.wrong, "not all connections have ended", *world.kernel.waiting()]
        await world.kernel.sleep(SETTLE_PS, "the next poll")
    world.disturb({})
    wrong = [*cluster.wrong, *cluster.wrong_memory(), *cluster.unheard()]
    if wrong:
        return wrong
    for owner in cluster.honest():
        await owner.close()
    await world.kernel.sleep(SETTLE_PS, "the remaining packets")
    await until(world, LAST_PS, lambda: not world.in_flight())
    return [*cluster.wrong, *cluster.held()]


async def _link(link: Link, acts: tuple[Act, ...]) -> None:
    await link.make()
    for act in acts:
        if act.node == link.act.node and act.name != "connection":
            await act.pause(link.cluster.world.kernel)
            await perform(link, act)
    await link.end()


FUZZ = Fuzz(program=program, run=run)
