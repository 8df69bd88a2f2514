"""Cluster in pure Python: hosts, NICs and a network on one kernel."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypedDict

from pymodels.builders import clos, fat_tree, single_switch
from pymodels.hardware.discover import module_of_nic, nic_kind
from pymodels.kernel import Kernel, Task, close_unstarted
from pymodels.machine.faults import Faults
from pymodels.machine.host import ModelHost
from pymodels.machine.log import TraceLog
from pymodels.machine.memory import MachineError
from pymodels.machine.network import ModelNetwork
from pymodels.machine.nic import ModelNic
from pymodels.machine.parts import MachineNic, MakeNic
from pymodels.machine.processor import ModelProcessor
from pymodels.machine.spin import Spin
from pymodels.machine.timing import CostLookup, Timing, flat_cost
from pymodels.machine.world import World
from pymodels.messages import Messages
from pymodels.profiles.default import DEFAULT_KIND
from pymodels.routes import Routes
from pymodels.topology import Topology
from pymodels.updown import up_down

MEGABYTE = 1 << 20


class View(TypedDict):
    """Fields of `firmware.layers.ClusterView`: use `ClusterView(**machine.view(0))`."""

    me: int
    names: tuple[str, ...]
    routes: dict[int, bytes]
    other_routes: dict[int, tuple[bytes, ...]]
    options: dict[str, int | str]
    sram_bytes: int
    pnns: tuple[int, ...]


class Machine:
    """Cluster of `nodes` hosts on one switch by default, or on a `topology` with `routes` (default: up*/down*)."""

    def __init__(
        self,
        nodes: int = 2,
        seed: int = 0,
        *,
        timing: Timing | None = None,
        cost: CostLookup = flat_cost,
        names: Sequence[str] | None = None,
        topology: Topology | None = None,
        routes: Routes | None = None,
        host_bytes: int = 64 * MEGABYTE,
        sram_bytes: int = 0,
        trace: bool = True,
        nic: str = DEFAULT_KIND,
        kernel: Kernel | None = None,
        network: type[ModelNetwork] = ModelNetwork,
        spin: type[Spin] = Spin,
    ) -> None:
        """Create hosts, NICs and the network.

        Args:
            nodes: Number of hosts, if neither `names` nor `topology` is given.
            seed: Seed of the interrupt latencies.
            timing: Delays; None for the defaults.
            cost: Function `cost(side, path)` that returns the picoseconds of a path.
            names: Names of the hosts.
            topology: The network; None for a generated one.
            routes: Routes between the hosts; None to compute them.
            host_bytes: Memory of each host in bytes.
            sram_bytes: Memory of each NIC in bytes; 0 for the default of its kind.
            trace: True to record the trace.
            nic: Kind of all NICs.
            kernel: Kernel of a controlled schedule (`pymodels.machine.schedule`); None for a new one.
            network: Class of the network.
            spin: Class of polling loops.
        """
        kind = nic_kind(nic)
        sram_bytes = sram_bytes or kind.sram_bytes
        make: MakeNic = module_of_nic("pymodels.nics.{}.machine", nic).NIC
        timing = timing or Timing()
        names = tuple(names or (f"host{i}" for i in range(nodes)))
        self.topology = topology or _network(names)
        self.names = self.topology.hosts
        self.kernel = kernel or Kernel()
        self.timing = timing
        self.trace = TraceLog(self.kernel, trace)
        world = World(self.kernel, timing, self.trace, cost, spin, Messages(len(self.names), trace))
        self.network = network(world, self.topology)
        self._routes = routes or up_down(self.topology)
        self.nics: list[MachineNic] = []
        self.hosts: list[ModelHost] = []
        for node, name in enumerate(self.names):
            card = make(world, node, sram_bytes, self.network)
            places = kind.card(sram_bytes)
            host = ModelHost(world, node, name, card.card, places, size=host_bytes, seed=seed * 4099 + node)
            card.connect(host.bus_memory(), host.granted)
            self.network.senders.append(card.send)
            self.network.receivers.append(card.receive)
            self.nics.append(card)
            self.hosts.append(host)

    @property
    def faults(self) -> Faults:
        """Fault injection on the wires."""
        return self.network.faults

    def nic(self, node: int) -> ModelNic:
        """Return the NIC of a node, which must be a LANai; `nics` has NICs of every kind."""
        found = self.nics[node]
        assert isinstance(found, ModelNic), f"NIC {node} is not a LANai"
        return found

    def processor(self, node: int) -> ModelProcessor:
        """Return the NIC of a node as its firmware accesses it; NICs of any kind with a processor."""
        found = self.nics[node]
        assert isinstance(found, ModelProcessor), f"NIC {node} has no processor"
        return found

    def host(self, node: int) -> ModelHost:
        """Return the host of a node."""
        return self.hosts[node]

    def view(self, node: int, **options: int | str) -> View:
        """Return the description of the cluster for the software of a node; keywords become options of the message
        layer.
        """
        me = self.names[node]
        ways = {vnn: self._routes.ways(me, name) for vnn, name in enumerate(self.names) if vnn != node}
        return View(
            me=node,
            names=tuple(self.names),
            routes={vnn: found[0] for vnn, found in ways.items()},
            other_routes={vnn: found[1:] for vnn, found in ways.items() if found[1:]},
            options=dict(options),
            sram_bytes=self.nics[node].sram_bytes,
            pnns=tuple(self.topology.running_port(self.topology.attachment(name)) for name in self.names),
        )

    def run(self, until_us: float | None = None) -> None:
        """Run until an absolute time in microseconds, or until no event is left."""
        until = None if until_us is None else int(until_us * 1_000_000)
        self.kernel.run(until)
        if until is not None:
            self.kernel.now = max(self.kernel.now, until | 1)

    def finish(self, *tasks: Task | Coroutine[Any, Any, Any], within_us: float = 1_000_000.0) -> list[Any]:
        """Run until all tasks have finished, and return their results. Raises MachineError, with all waits, for
        a hang.
        """
        kernel = self.kernel
        results: list[Any] = [None] * len(tasks)

        async def keep(place: int, task: Task | Coroutine[Any, Any, Any]) -> None:
            results[place] = await (task.finished if isinstance(task, Task) else task)

        kept = [keep(place, task) for place, task in enumerate(tasks)]
        running = [kernel.spawn(one, f"task {place}") for place, one in enumerate(kept)]
        limit = kernel.now + int(within_us * 1_000_000)
        try:
            kernel.run_ready()
            while running:
                if running[-1].finished.done:
                    running.pop()
                    continue
                alarm = kernel.next_alarm()
                if alarm is None or alarm > limit:
                    raise MachineError("\n".join([self._hang(alarm is None, within_us), *kernel.waiting()]))
                kernel.now = alarm
                kernel.run_ready()
        except BaseException:
            close_unstarted(*kept, *(task for task in tasks if not isinstance(task, Task)))
            raise
        return results

    def _hang(self, nothing_left: bool, within_us: float) -> str:
        what = "no event is left" if nothing_left else f"not finished within {within_us:g} us"
        return f"at {self.kernel.now / 1e6:.3f} us: {what}; {self.network.in_flight()} packets in the network"


def _network(names: tuple[str, ...]) -> Topology:
    """Return a network of one switch, above 16 hosts a leaf-and-spine network, above 128 a fat tree."""
    if len(names) <= 16:
        return single_switch(names, 8 if len(names) <= 8 else 16)
    return clos(names, 16) if len(names) <= 128 else fat_tree(names, 16)
