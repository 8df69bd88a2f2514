"""Mixed fuzz test of LAPI: all calls, completion handlers that call LAPI, interrupts and fences, on a faulty network.

Memory must be as after some order of the calls that the fences allow; `Rmw` calls must be serialisable. Each counter
must equal the number of calls that named it. Each header handler runs once with its message's header, each completion
handler once. Invalid calls must raise. At the end no buffer is kept.
"""

from __future__ import annotations

from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.stacked import CHIPS, CLUSTER, NIC, NODES, PROFILE, SETTLE_PS, disturb, faults, start
from tb.fuzz.world import World
from tb.studies.lapi.fuzz.task import BAD, KINDS, OPERATIONS, SIZES, SLICE, Task

OPTIONS = {"timeout_us": (200, 60, 1000), "ack_packets": (30, 1, 7), "interrupt_set": (0, 1), "error_chk": (1, 0)}
LONGEST_PS = 4_000_000_000_000


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, NODES)
    options: dict[str, int | str] = {name: draw.one_of(values) for name, values in OPTIONS.items()}
    options |= {"hal.routes": draw.one_of((16, 1, 2))}

    def act(one: Draw) -> Act:
        node, kind = one.whole(0, nodes - 1), one.one_of(KINDS)
        if kind in ("put", "get", "amsend"):
            size = one.one_of(SIZES)
            values: dict[str, int | str] = {
                "to": one.whole(0, nodes - 1),
                "size": size,
                "from": one.whole(0, SLICE - size),
                "at": one.whole(0, SLICE - size),
                "counters": one.whole(0, 7),
            }
            then = one.one_of(("nothing", "put", "rmw", "set", "tell"))
            more: dict[str, int | str] = {"header": one.one_of((4, 5, 100, 900)), "then": then}
            return Act(node, kind, {**values, **more} if kind == "amsend" else values)
        if kind == "rmw":
            name = one.one_of(OPERATIONS)
            return Act(node, kind, {"to": one.whole(0, nodes - 1), "what": name, "value": one.whole(1, 1000)})
        if kind == "bad":
            return Act(node, kind, {"what": one.one_of(BAD)})
        return Act(node, kind, {"us": one.one_of((5, 100, 900)), "value": one.whole(0, 29)})

    return Program(nodes, NIC, options, faults(draw), tuple(draw.items(act, 40, 150)), chips=CHIPS)


class Cluster:
    """All tasks."""

    def __init__(self, program: Program, world: World) -> None:
        self.program, self.world = program, world
        self.wrong: list[str] = []
        self.tasks: list[Task] = []
        self.tasks += [Task(lapi, self.tasks, self.wrong) for lapi in start("lapi", program, world)]

    async def run(self) -> None:
        """Run all actions of all tasks."""
        kernel = self.world.kernel
        running = [kernel.spawn(self._task(task), f"task {task.me}") for task in self.tasks]
        limit = kernel.now + LONGEST_PS
        while not all(one.finished.done for one in running):
            if kernel.now > limit:
                self.wrong += ["not all tasks have ended", *kernel.waiting()]
                return
            await kernel.sleep(SETTLE_PS, "the next look")

    async def _task(self, task: Task) -> None:
        await task.begin()
        for act in self.program.acts:
            if act.node == task.me:
                await act.pause(self.world.kernel)
                await getattr(task, act.name)(act)
        await task.end()


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    cluster = Cluster(program, world)
    disturb(program, world)
    await cluster.run()
    world.disturb({})
    if not cluster.wrong:
        await world.kernel.sleep(SETTLE_PS, "what may still come")
        cluster.wrong += [line for task in cluster.tasks for line in task.changed()]
    return cluster.wrong


FUZZ = Fuzz(program=program, run=run, stands_on=("lapi", "hal"), profile=PROFILE, cluster=CLUSTER)
