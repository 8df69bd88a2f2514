"""State of a running VIA program that all connections share."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.layers import check_options, nic_program
from firmware.via.host import Via
from firmware.via.options import Options
from pymodels.host.pages import PAGE
from tb.fuzz.program import Program
from tb.fuzz.world import World
from tb.studies.via.fuzz.owner import Owner

PROCESSES = 2
"""Number of processes on each node."""
UNTOUCHED = bytes(PAGE)
"""Content of a page frame that was never written."""


class Cluster:
    """Hosts, NICs and processes of a program."""

    def __init__(self, program: Program, world: World) -> None:
        """Create the cluster. Raises OptionError if the options are invalid."""
        self.program, self.world = program, world
        views = [world.view(node, program.options) for node in range(program.nodes)]
        card = world.hosts[0].card
        check_options("via", program.options, program.nodes, views[0].sram_bytes, card)
        self.options = Options.from_values(program.options)
        self.vias = [Via(world.hosts[node], view) for node, view in enumerate(views)]
        self.owners = [[Owner(node, number) for number in range(PROCESSES)] for node in range(program.nodes)]
        for act in program.acts:
            if act.name == "connection" and act.values["completions"] == "process":
                for end in ("first", "second"):
                    self.owners[act.whole(end)][act.whole("process")].shares = True
        self.wrong: list[str] = []
        for node, view in enumerate(views):
            world.nics[node].spawn(nic_program("via")(world.nics[node], view), "firmware")

    async def start(self) -> None:
        """Start the drivers, then the processes."""
        for via in self.vias:
            await via.start()
        for via, owners in zip(self.vias, self.owners, strict=True):
            for owner in owners:
                await owner.open(via)

    def honest(self) -> list[Owner]:
        """Return the processes that obey the rules."""
        return [owner for owners in self.owners for owner in owners if not owner.hostile]

    def wrong_memory(self) -> Iterator[str]:
        """Yield a description of each byte of a process that changed without permission."""
        for owner in self.honest():
            for kind, area in enumerate(owner.areas):
                at = area.wrong()
                if at is not None:
                    yield f"{owner}: byte {at} of its region {kind} is wrong"

    def unheard(self) -> Iterator[str]:
        """Yield a description of each process whose NIC and VIs report different numbers of broken connections."""
        for owner in self.honest():
            told = len(owner.broken)
            if told != owner.breaks:
                yield f"{owner}: the NIC reported {told} broken connections, the VIs {owner.breaks}"

    def held(self) -> Iterator[str]:
        """Yield a description of each resource still held by kernels, NICs or the network after all was released."""
        hostile = {owner.node for owners in self.owners for owner in owners if owner.hostile}
        for via in self.vias:
            if via.kernel_agent.me not in hostile:
                yield from self._held_by(via)
        if not hostile:
            yield from (f"{wait.waiter} lacks {wait.wanted.resource}" for wait in self.world.hosts[0].waits.declared())
        if self.world.in_flight():
            yield f"the network holds {self.world.in_flight()} packets"

    def _held_by(self, via: Via) -> Iterator[str]:
        agent, who = via.kernel_agent, f"kernel agent {via.kernel_agent.me}"
        yield from (f"{who} has VI {vi.number}" for vi in agent.vis.contexts[1:] if vi.process is not None)
        yield from (f"{who} has completion queue {number}" for number, used in enumerate(agent.queues.used) if used)
        for region in agent.registry._regions:
            if region is not None:
                yield f"{who} has region {region.handle:#x}"
        for frame in self.world.hosts[agent.me].frames._free:
            if via.host.load_bytes(frame, PAGE) != UNTOUCHED:
                yield f"{who}: free page frame {frame:#x} was written"
