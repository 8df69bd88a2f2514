"""Clusters on which programs run: hosts, NICs and a network, on the pure-Python machine or on the RTL."""

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
"""Random faults of a network."""
LOOK_PS, LONGEST_LOOK_PS = 50_000_000, 2_000_000_000


def late_port(chip: int) -> End:
    """Return the port at which packets of one route arrive late: the chip's end of a cable from a link chip."""
    return End(f"chip{chip}", 6)


def _board(nodes: int, chips: int) -> dict[str, Any]:
    topology = board(host_names(nodes), chips=chips)
    return {"topology": topology, "routes": up_down(topology, most=chips)}


class World(Protocol):
    """Cluster as seen by a layer's fuzz test."""

    @property
    def hosts(self) -> Sequence[Any]:
        """Hosts by VNN."""

    @property
    def nics(self) -> Sequence[Any]:
        """NICs by VNN."""

    @property
    def kernel(self) -> Kernel:
        """Tasks and simulated time."""

    def view(self, node: int, options: Mapping[str, Value]) -> ClusterView:
        """Return the description of the cluster for the software of a node."""

    def executing(self, layer: str, node: int, view: ClusterView) -> ClusterView:
        """Return the view of a node whose NIC executes a layer's firmware in C as soon as its host has loaded it.

        Raises SanlabError if there is no such firmware for this NIC, or for these options.
        """

    def disturb(self, faults: Mapping[str, int]) -> None:
        """Lose, damage, reorder or duplicate packets from now on."""

    def delay(self, chip: int, us: int) -> None:
        """Delay one route out of a chip of the board from now on."""

    def stood_still(self) -> None:
        """Report a deadlock that the program's options allow, in which links cut packets that waited too long."""

    async def reset(self, node: int) -> None:
        """Reset a NIC, which ends its firmware."""

    def insert(self, node: int, packet: bytes) -> None:
        """Deliver a packet that no NIC has sent to a node, if the world supports it."""

    def stand_still(self, node: int, ps: int) -> None:
        """Stop a host, including its interrupt routines, for some time, if the world supports it."""

    def cut_power(self, node: int, card: str, at_ps: int, for_ps: int) -> None:
        """Cut the power of a node's card at a time, and let it return after `for_ps`, if the world has cards."""

    def card_processor(self, node: int) -> Any:
        """Return the verbs of the processor of a node's I/O card, if the world has cards."""

    def card_memory(self, node: int) -> Any:
        """Return the memory of a node's FPGA card as an array, if the world has cards."""

    def in_flight(self) -> int:
        """Return the number of packets in the network."""


class MachineWorld:
    """Machine created for one program."""

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
        """See `World`: the machine's links cut no packets."""

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

    def cut_power(self, node: int, card: str, at_ps: int, for_ps: int) -> None:
        """See `World`."""
        raise LookupError("the machine has no cards")

    def card_processor(self, node: int) -> Any:
        """See `World`."""
        raise LookupError("the machine has no cards")

    def card_memory(self, node: int) -> Any:
        """See `World`."""
        raise LookupError("the machine has no cards")

    def in_flight(self) -> int:
        """See `World`."""
        return self._machine.network.in_flight()

    def finish(self, program: Coroutine[Any, Any, None], within_us: int) -> None:
        """Run a program to its end. Raises MachineError if it does not end in time."""
        self._machine.finish(program, within_us=within_us)


async def until(world: World, patience: int, over: Callable[[], bool]) -> bool:
    """Check a condition at growing intervals. Return False if it does not hold within `patience` ps."""
    pause, limit = LOOK_PS, world.kernel.now + patience
    while not over():
        if world.kernel.now > limit:
            return False
        await world.kernel.sleep(pause, "the next check")
        pause = min(2 * pause, LONGEST_LOOK_PS)
    return True
