"""Cluster that runs a GRIM program: state shared by all nodes, and the end of the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from firmware.grim.host import Grim
from firmware.grim.nic import holds_link
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.scan import Firmware
from firmware.layers import check_options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.config.model import QueueRequest
from tb.fuzz.program import Program
from tb.fuzz.world import World
from tb.studies.grim.fuzz.errors import Ledger
from tb.studies.grim.fuzz.in_c import C, ExecutingNi, check
from tb.studies.grim.fuzz.left import held
from tb.studies.grim.fuzz.mail import Mail
from tb.studies.grim.fuzz.memory import Memory
from tb.studies.grim.fuzz.trees import Trees


@dataclass
class NodeSoftware:
    """Firmware and library of a node."""

    ni: Ni | ExecutingNi
    firmware: Firmware | ExecutingNi
    library: Grim

    def start(self) -> None:
        """Start the firmware coroutine; firmware in C starts when the host has loaded it."""
        if isinstance(self.firmware, Firmware):
            self.firmware.nic.spawn(self.firmware.run(), "firmware")


class Cluster:
    """Firmware, libraries and references of all nodes."""

    def __init__(self, program: Program, world: World) -> None:
        """Create the cluster. Raises OptionError for invalid options, ConfigError for needs unsupported by firmware in
        C.
        """
        check(program)
        self.program, self.world = program, world
        self.parts = [self._part(node) for node in range(program.nodes)]
        self.mail = Mail()
        self.memory = Memory()
        self.ledgers = [Ledger() for _ in self.parts]
        if self.may_stand_still:  # a NI in a deadlock sends nothing, so with time-outs it counts as down
            for ledger in self.ledgers:
                for words in ("does not answer", "did not reach"):
                    ledger.allow("a NI that stands still", "destination", words)
        self.trees = Trees(program.nodes, self.parts[0].library.options.multicast_trees)
        self.wrong: list[str] = []
        self.up = 0
        """Number of nodes that are enabled and know all handlers."""
        self.at_end = 0
        """Number of tasks that have finished their actions."""
        self.over = False
        self.down: int | None = None
        """Node that is down, or None."""
        self.lives = [0] * program.nodes
        """Number of restarts of each node."""
        for part in self.parts:
            part.start()

    def view(self, node: int) -> ClusterView:
        """Return the description of the cluster for the software of a node."""
        return self.world.view(node, self.program.options)

    def _part(self, node: int) -> NodeSoftware:
        world, program = self.world, self.program
        view = self.view(node)
        asked = program.asked
        if asked.get("node") == node:
            queue = QueueRequest(str(asked["resource"]), int(asked["bytes"]), f"configuration of node {node}")
            view = replace(view, queues=(queue,))
        host, nic = world.hosts[node], world.nics[node]
        refused = None
        try:
            check_options("grim", program.options, program.nodes, view.sram_bytes, host.card)
        except OptionError as error:
            refused = error
        if refused is not None:
            Grim(host, view)  # must reject them too
            raise refused
        if program.in_c[node : node + 1] == C:
            return self._in_c(node, view)
        library, ni = Grim(host, view), Ni(nic, view)
        return NodeSoftware(ni, Firmware(ni), library)

    def _in_c(self, node: int, view: ClusterView) -> NodeSoftware:
        """Create a node whose NIC executes firmware in C. Raises ConfigError for options that only Python supports."""
        view = self.world.executing("grim", node, view)
        executing = ExecutingNi(self.world.nics[node], view)
        return NodeSoftware(executing, executing, Grim(self.world.hosts[node], view))

    async def load(self) -> None:
        """Load the executing NICs before any is enabled; a NIC in reset would drop the notices of others."""
        for part in self.parts:
            await part.library.load()

    def begin(self, node: int) -> None:
        """Restart firmware and library of a node."""
        self.parts[node] = self._part(node)
        self.parts[node].start()

    @property
    def may_stand_still(self) -> bool:
        """True if the options allow a deadlock."""
        return bool(holds_link(self.program.options)) or not self.parts[0].library.options.overflow

    def missing(self) -> Iterator[str]:
        """Yield a description of each message, error and lock that is still missing."""
        yield from self.mail.missing()
        for node, ledger in enumerate(self.ledgers):
            yield from (f"node {node}: {line}" for line in ledger.missing())
        for lock in self.memory.locks:
            now = self.world.hosts[lock.node].load_words(lock.pa, 1)[0]
            if now not in lock.may_be():
                yield f"node {lock.node}, lock {lock.va:#x} is {now:#x}, not {' or '.join(map(hex, lock.may_be()))}"

    def held(self) -> Iterator[str]:
        """Yield a description of each resource that is held after the end."""
        for part in self.parts:
            yield from held(part.ni.me, part.firmware, part.library, self.mail)
        if self.world.in_flight():
            yield f"the network holds {self.world.in_flight()} packets"
        yield from (f"{wait.waiter} waits for {wait.wanted}" for wait in self.world.kernel.waits.declared())
