"""What a program runs on: hosts, NICs and a network, on the pure-Python machine or on the RTL."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from firmware.common.host.card import hold
from firmware.executing import executing
from firmware.view import ClusterView
from pymodels.builders import board, host_names
from pymodels.kernel import Kernel
from pymodels.machine import Machine
from pymodels.topology import End
from pymodels.updown import up_down
from tb.fuzz.program import Program, Value

FAULTS = ("loss", "damage", "reorder", "double")
"""What a network may do to packets."""
LOOK_PS, LONGEST_LOOK_PS = 50_000_000, 2_000_000_000


def late_port(chip: int) -> End:
    """Where packets of one route come late: the chip's end of a cable from a link chip."""
    return End(f"chip{chip}", 6)


def _board(nodes: int, chips: int) -> dict[str, Any]:
    topology = board(host_names(nodes), chips=chips)
    return {"topology": topology, "routes": up_down(topology, most=chips)}


class World(Protocol):
    """The cluster that a layer's fuzz sees."""

    @property
    def hosts(self) -> Sequence[Any]:
        """The hosts by VNN."""

    @property
    def nics(self) -> Sequence[Any]:
        """The NICs by VNN."""

    @property
    def kernel(self) -> Kernel:
        """Tasks and simulated time."""

    def view(self, node: int, options: Mapping[str, Value]) -> ClusterView:
        """What software on a node knows of the cluster."""

    def executing(self, layer: str, node: int, view: ClusterView) -> ClusterView:
        """The view of a node whose NIC executes a layer's firmware in C as soon as its host has loaded it. Raises
        SanlabError where there is none for this NIC, or for options that it lacks.
        """

    def disturb(self, faults: Mapping[str, int]) -> None:
        """From now on the network loses, damages, reorders or doubles packets."""

    def delay(self, chip: int, us: int) -> None:
        """From now on one route out of a chip of the board is so much later than the others."""

    def stood_still(self) -> None:
        """The program has met a deadlock that its options allow: links cut packets that waited too long."""

    async def reset(self, node: int) -> None:
        """Reset a NIC: its program ends."""

    def insert(self, node: int, packet: bytes) -> None:
        """A packet that no NIC of the cluster has sent goes to a node, where the world can."""

    def stand_still(self, node: int, ps: int) -> None:
        """A host executes nothing for some time, no interrupt routine either, where the world can."""

    def card_memory(self, node: int) -> Any:
        """The bytes of the FPGA card of a node, an array, where the world has cards."""

    def in_flight(self) -> int:
        """Packets in the network."""


class MachineWorld:
    """The machine, made for one program."""

    def __init__(self, program: Program) -> None:
        network = _board(program.nodes, program.chips) if program.chips else {}
        self._machine = Machine(program.nodes, seed=1, trace=False, nic=program.nic, **network)
        self.hosts: Sequence[Any] = self._machine.hosts
        self.nics: Sequence[Any] = self._machine.nics

    @property
    def kernel(self) -> Kernel:
        """See `World`."""
        return self._machine.kernel

    def view(self, node: int, options: Mapping[str, Value]) -> ClusterView:
        """See `World`."""
        return ClusterView(**self._machine.view(node, **options))

    def executing(self, layer: str, node: int, view: ClusterView) -> ClusterView:
        """See `World`."""
        return executing(layer, self._machine.nic(node), view)

    def disturb(self, faults: Mapping[str, int]) -> None:
        """See `World`."""
        loss, damage, reordered, doubled = (
            faults.get(name, 0) / 1000 for name in ("loss", "damage", "reorder", "double")
        )
        seed = faults.get("seed", 0)
        self._machine.faults.lose(loss, damage, seed, reordered=reordered, doubled=doubled)

    def delay(self, chip: int, us: int) -> None:
        """See `World`."""
        self._machine.faults.delay_into(late_port(chip), us * 1_000_000)

    def stood_still(self) -> None:
        """See `World`: the machine's links cut none."""

    async def reset(self, node: int) -> None:
        """See `World`."""
        await hold(self.hosts[node])

    def insert(self, node: int, packet: bytes) -> None:
        """See `World`."""
        self._machine.network.insert(node, packet)

    def stand_still(self, node: int, ps: int) -> None:
        """See `World`."""
        host = self._machine.hosts[node]
        host.pause()
        self.kernel.at(self.kernel.now + ps, host.resume)

    def card_memory(self, node: int) -> Any:
        """See `World`."""
        raise LookupError("the machine has no cards")

    def in_flight(self) -> int:
        """See `World`."""
        return self._machine.network.in_flight()

    def finish(self, program: Coroutine[Any, Any, None], within_us: int) -> None:
        """Run a program to its end. Raises MachineError when it does not come."""
        self._machine.finish(program, within_us=within_us)


async def until(world: World, patience: int, over: Callable[[], bool]) -> bool:
    """Look again and again, at growing distances, whether something holds; False when it does not in `patience` ps."""
    pause, limit = LOOK_PS, world.kernel.now + patience
    while not over():
        if world.kernel.now > limit:
            return False
        await world.kernel.sleep(pause, "the next look")
        pause = min(2 * pause, LONGEST_LOOK_PS)
    return True
