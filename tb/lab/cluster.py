"""Running cluster inside the simulator, made from a plan: memories, settings, verbs, invariants."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from firmware.common.host import card
from firmware.layers import has_program
from pymodels.card.fabric import EXAMPLE
from pymodels.card.registers import BANK_BYTES, BANKS, FABRIC_MHZ
from pymodels.config.model import CARDS, FPGA_CARD, FRAME_CARD, IO_CARD
from pymodels.costs.table import PathTable
from pymodels.errors import SanlabError
from pymodels.hardware.discover import module_of_nic
from pymodels.hardware.processors import HostProcessor
from pymodels.iocard.registers import WINDOW
from pymodels.kernel import Kernel
from pymodels.lanai.program import Program
from pymodels.messages import Messages, first_arrival
from pymodels.profiles import Profile
from pymodels.registers import Control
from pymodels.settings import SWITCH_UNIT, Setting
from pymodels.topology import End
from pymodels.trace import Part, TraceEvent, unit
from tb.bind.actor import PathNumbers
from tb.bind.around import Around
from tb.bind.circuits import CardCircuits
from tb.bind.core import PlaceNumbers, RtlCore, Watched
from tb.bind.host import HostTiming, RtlHost
from tb.bind.io_card import IO_TIMING, RtlIoProcessor
from tb.bind.lanai import RtlNic
from tb.build.numbers import CARD_MEMORIES, FABRIC, FAR, LINK, NIC, PCI, Numbers
from tb.lab.invariants import Invariants
from tb.monitors.cluster import Monitors
from tb.monitors.monitor import Monitor
from tb.plan.firmware import INLINE, INSTRUCTIONS, STOP
from tb.plan.monitors import KINDS, MONITORS
from tb.plan.request import Plan
from tb.plan.settings import card_period, fpga_settings, node_settings, pci_period, switch_settings
from tb.report.packets import KEPT
from tb.sim.doorway import Doorway
from tb.sim.engine import Engine

INTERRUPTS = 1 << Control.IRQ_ENABLE
LOADED = 1 << Control.LANAI_RESET_OFF | INTERRUPTS
"""Control register value that the driver writes to a LANai after loading its firmware."""
FABRIC_PS = 1_000_000 // FABRIC_MHZ
FRAME_BYTES = 1 << 24
"""Window of a frame buffer card."""
NS, US = 1000, 1_000_000
"""Picoseconds in a nanosecond and in a microsecond."""
OVERHEADS = "post_user", "post_kernel", "packet", "signal", "fault", "protect", "frame", "select"
"""Host software costs without a path, each a key of the profile."""
BOOT_PS = 2 * US
"""Time from the last control register write to the study (our choice), after which every LANai has left reset."""
LOST = 0xA5
"""Byte in all of a card's memory after a loss of power (our choice)."""
FAULTS = {"drop": 1, "flip": 2, "stick": 3}
"""Fault codes of the doorway (hdl/sim/doorway/faults.c)."""


class RunningCluster:
    """Cluster in the present simulation.

    Args:
        dut: Handle of the simulation's top level.
        plan: Plan of the run.
        direct: See `Engine`.
    """

    def __init__(self, dut: Any, plan: Plan, direct: bool = True) -> None:
        self.plan = plan
        self.numbers = Numbers.from_cluster(plan.cluster, plan.profile, plan.cores)
        self.doorway = Doorway()
        self.doorway.messages = Messages(self.numbers.nodes, bool(plan.options["run.trace"]), self._places)
        self.kernel = self.doorway.backend(Kernel)()
        self.engine = Engine(dut, self.doorway, self.kernel, direct)
        self.paths = PathNumbers()
        self.layers: tuple[str, ...] = ()
        """Message layers that run on the cluster, lowest first."""
        self.composed: dict[str, tuple[str, ...]] = {}
        """Parts of composed layers, by layer."""
        self.invariants = Invariants(self.doorway, self.kernel, plan.profile.nic.invariants)
        self.left_in_flight: list[str] = []
        self.stands_still = False
        """True after a study has shown a deadlock; packets then stay in flight."""
        self._drained = False
        self._clocks(plan.profile)
        self._settings(plan)
        self.doorway.trace_create(int(plan.options["run.trace_records"]))
        self.doorway.capture_create(int(plan.options["run.packets_MB"]) << 20, KEPT)
        self.doorway.trace_on(bool(plan.options["run.trace"]))
        self.nics = self._nics(plan.profile)
        self.cores = dict[int, RtlCore]()
        """Cores of NICs that execute machine code, by node, once it is loaded."""
        self.places = PlaceNumbers()
        asked = plan.options
        self._watched = Watched(str(asked[STOP]), bool(asked[INSTRUCTIONS]), bool(asked[INLINE]))
        self.hosts = [self._host(n, plan) for n in range(self.numbers.nodes)]
        self.banks = {n: self._card(n, 0, BANKS * BANK_BYTES) for n in self._with(FPGA_CARD)}
        """SRAM of the FPGA cards, by node."""
        circuits = plan.cluster.circuits or EXAMPLE
        self.circuits = {
            n: CardCircuits(n, plan.cluster.names[n], self.kernel, self.doorway, circuits) for n in self.banks
        }
        """Circuits in Python of the FPGA cards, by node."""
        self.frames = {n: self._card(n, 1, FRAME_BYTES) for n in self._with(FRAME_CARD)}
        """Memory of the frame buffers, by node."""
        self.io_cards = {n: self._io_card(n, plan) for n in self._with(IO_CARD)}
        """Processors of the I/O cards, by node."""
        self.monitors = Monitors(self.doorway, plan, self.numbers) if plan.monitored else None
        """Monitors of the run; None without `run.monitors`."""

    def _clocks(self, profile: Profile) -> None:
        numbers, clock = self.numbers, self.doorway.lib.dw_clock
        for n in range(numbers.nodes):
            further = numbers.further(n)
            for domain, key in ((NIC, "clock.nic_ps"), (LINK, "clock.link_ps")):
                clock(numbers.clock(n, domain), profile.integer(key))
            clock(numbers.clock(n, PCI), pci_period(profile, further.fpga, further.io))
            if further.fpga:
                clock(numbers.clock(n, FABRIC), FABRIC_PS)
            if further.bridge:
                clock(numbers.clock(n, FAR), card_period(profile))
            self.doorway.lib.dw_unit_clock(unit(n, Part.HOST_CPU), numbers.bus_clock(n))
            self.doorway.lib.dw_unit_clock(unit(n, Part.NIC_CPU), numbers.clock(n, NIC))
            if further.io:
                self.doorway.lib.dw_unit_clock(unit(n, Part.IO_CPU), numbers.bus_clock(n))
        for s in range(len(self.plan.cluster.topology.switches)):
            clock(numbers.switch_clock(s), profile.integer("clock.link_ps"))

    def monitor(self, name: str) -> Monitor[Any]:
        """Return a monitor, such as `paris.pci`. Raises SanlabError for an unknown name, or in a run without any."""
        if self.monitors is None:
            remedy = f"set {MONITORS}, for example to {','.join(KINDS)}"
            raise SanlabError(f"monitor {name!r}", "this run has no monitors", remedy)
        return self.monitors.monitor(name)

    def _settings(self, plan: Plan) -> None:
        topology, profile = plan.cluster.topology, plan.profile
        metres = {end: link.metres for link in topology.links for end in (link.a, link.b)}
        for n, host in enumerate(topology.hosts):
            delay = {int(Setting.CABLE_DELAY): self._delay(metres[End(host, 0)])}
            cards = self.numbers.further(n)
            further = fpga_settings(profile) if cards.fpga else {}
            further |= {int(Setting.PCI_M66): 0} if cards.io else {}
            further |= {int(Setting.CORE_RUN): 1} if n in plan.in_c else {}
            self._set(unit(n, Part.HOST_CPU), {**node_settings(profile), **delay, **further})
        for s, switch in enumerate(topology.switches):
            delays = {
                int(Setting.CABLE_DELAY) + p: self._delay(metres.get(End(switch.name, p), 0.0))
                for p in range(switch.ports)
            }
            present = {int(Setting.PRESENT): topology.present(switch.name)}
            self._set(SWITCH_UNIT + s, {**switch_settings(profile), **present, **delays})

    def _delay(self, metres: float | None) -> int:
        """Return the length of the delay line in characters (for None, the profile's length), less the
        register at the cable's end.
        """
        return self.plan.profile.cable_characters(metres) - 1

    def _set(self, owner: int, values: Mapping[int, int]) -> None:
        for key, value in values.items():
            self.doorway.set(owner, key, value)

    def _nics(self, profile: Profile) -> list[RtlNic]:
        """Return the NIC verbs of all nodes, or an empty list for NICs without a processor."""
        memories = [
            self.doorway.memory(2 * node + 1, profile.integer("sram.bytes"), unit(node, Part.NIC_CPU))
            for node in range(self.numbers.nodes)
        ]
        processor = profile.nic.processor(profile)
        if processor is None:
            return []
        verbs: type[RtlNic] = module_of_nic("tb.nics.{}", profile.kind).NIC
        nic = self.doorway.backend(verbs)
        return [nic(node, self.kernel, self.doorway, sram, processor, self.paths) for node, sram in enumerate(memories)]

    def _places(self, node: int) -> memoryview:
        """Return the numbers of messages in the memory of a node's NIC."""
        size, kind, step = self.plan.profile.integer("sram.bytes"), self.plan.profile.nic, self.doorway.messages.step
        return self.doorway.places(node, size, first_arrival(node), step, kind.commands)

    def _host(self, node: int, plan: Plan) -> RtlHost:
        profile = plan.profile
        memory = self.doorway.memory(2 * node, profile.integer("memory.bytes"), unit(node, Part.HOST_CPU))
        timing = HostTiming(
            clock_ps=1e6 / profile.integer("host.clock_mhz"),
            switch_ps=profile.integer("host.context_switch_ns") * NS,
            kernel_entry_ps=profile.integer("host.kernel_entry_ns") * NS,
            overheads_ps={what: profile.integer(f"host.{what}_ns") * NS for what in OVERHEADS},
            interrupt_ps=(profile.integer("host.interrupt_min_ns") * NS, profile.integer("host.interrupt_max_ns") * NS),
            miss_ps=profile.integer("host.poll_miss_ns") * NS,
            processor=HostProcessor.from_profile(profile),
            copy_ps=1e6 / profile.integer("memory.copy_MBps"),
        )
        seed = plan.request.seed + profile.integer("host.interrupt_seed")
        name = plan.cluster.names[node]
        verbs = self.doorway.backend(RtlHost)
        card, paths = profile.card, self.paths
        host = verbs(node, name, self.kernel, self.doorway, memory, 2 * node, card, timing, paths, seed)
        further = (number for number, kind in enumerate(CARDS) if self.numbers.has(node, kind))
        host.slots = host.slots.union(further)
        numbers = self.numbers
        host.on_power = partial(self._powered, node)
        beside = [FABRIC] * self.numbers.further(node).fpga + [FAR] * self.numbers.further(node).bridge
        clocks = [numbers.bus_clock(node), *(numbers.clock(node, domain) for domain in (NIC, *beside))]
        pattern = max(1, profile.integer("bridge.extra_den") if profile.integer("bridge.extra_num") else 1)
        host.around = Around(self.doorway, self.kernel, host.cpu, clocks, unit(node, Part.NIC_CPU), pattern)
        return host

    def _io_card(self, node: int, plan: Plan) -> RtlIoProcessor:
        """Return the verbs of the processor of a node's I/O card."""
        memory = self.doorway.memory(CARD_MEMORIES + 2 * node, WINDOW, unit(node, Part.IO_CPU))
        verbs = self.doorway.backend(RtlIoProcessor)
        host = self.hosts[node]
        seed = plan.request.seed
        return verbs(
            node, f"{host.name}'s I/O card", self.kernel, self.doorway, memory, CARD_MEMORIES + 2 * node, host.card,
            IO_TIMING, self.paths, seed,
        )  # fmt: skip

    def _with(self, card: str) -> list[int]:
        return [n for n in range(self.numbers.nodes) if self.numbers.has(n, card)]

    def _card(self, node: int, which: int, size: int) -> memoryview:
        return self.doorway.memory(CARD_MEMORIES + 2 * node + which, size, unit(node, Part.HOST_CPU))

    def execute(self, node: int, program: Program) -> None:
        """Let the NIC of a node execute a program once its host has loaded it, and count its instructions
        from now on.
        """
        if (core := self.cores.get(node)) is None:
            sram = self.nics[node].sram
            core = self.cores[node] = RtlCore(node, self.doorway, sram, self.places, self._watched)
            self.nics[node].stopped = core.stopped
        core.use(program)
        self._set(unit(node, Part.HOST_CPU), {int(Setting.CORE_RUN): 1})

    def use_layer(self, *layers: str, composed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Charge the compiled costs of message layers from now on, in addition to those that run already.

        Args:
            layers: Layers, lowest first.
            composed: Parts of composed layers, by layer.

        Raises:
            CostError: A layer has no cost table, or two layers have a path of the same name.
        """
        self.layers = tuple(dict.fromkeys((*self.layers, *layers)))
        self.composed.update(composed or {})
        target = self.plan.profile.host_target
        tables = [PathTable.of_host(one, target, self.composed.get(one, ())) for one in self.layers]
        host = PathTable.together(tables)
        for layer in filter(has_program, layers):
            nic = PathTable.of_nic(layer, self.plan.profile.nic.target, self.composed.get(layer, ()))
            for n in self.nics:
                n.use(nic)
        for h in (*self.hosts, *self.io_cards.values()):
            h.use(host)

    async def boot(self) -> None:
        """Take every NIC that needs it out of reset by control register writes over PCI, as the driver does
        at load time.
        """
        for node, host in enumerate(self.hosts):
            if self.plan.profile.nic.boots:
                word = (
                    INTERRUPTS if node in self.plan.in_c else LOADED
                )  # C firmware must be loaded before the reset ends
                await host.pio_write(host.card.control, word.to_bytes(4, "big"))
        await self.kernel.sleep(BOOT_PS)
        names = ("fault.loss", "fault.damage", "fault.reorder")
        loss, damage, reorder = (float(self.plan.options[name]) for name in names)
        if loss or damage or reorder:
            self.lose(loss, damage, self.plan.request.seed, reorder)
        if late := str(self.plan.options["fault.late_port"]):
            self.delay(self.plan.cluster.topology.port(late), int(self.plan.options["fault.late_us"]))

    def power(self, node: int, slot: int, on: bool) -> None:
        """Switch the supply of a card, by the slot of its host's bus. The slot follows when the bus is idle."""
        self.doorway.lib.dw_power(unit(node, Part.HOST_CPU), slot, int(not on))

    def _powered(self, node: int, slot: int, off: bool) -> None:
        """Handle the end or the return of a card's supply: its memory and its processor lose their state."""
        if not off:
            return
        card = CARDS[slot]
        if card == IO_CARD:
            self.io_cards[node].halt()
        memory = {FPGA_CARD: self.banks, FRAME_CARD: self.frames}.get(card, {}).get(node)
        if memory is None:
            memory = self.io_cards[node].memory
        np.frombuffer(memory, np.uint8)[:] = LOST

    async def hold(self, node: int) -> None:
        """Reset a LANai as its driver does.

        Its firmware stops, its DMA ends with the current block, and packets to it are lost without breaking an
        invariant. `firmware.common.host.card.release` ends the reset.
        """
        self.invariants.faults_expected = True
        self.nics[node].halt()
        await card.hold(self.hosts[node])

    async def drain(self, limit_us: int = 1000) -> None:
        """Wait until nothing is in flight; packets left after `limit_us` break an invariant."""
        flight = self.doorway.flight(self.numbers.clocks)
        for _ in range(limit_us):
            await self.kernel.sleep(US)
            self._drained = not any(flight)
            if self.stands_still or self._drained:
                return
        left = [self.numbers.clock_name(c) for c in range(self.numbers.clocks) if flight[c]]
        if self.invariants.faults_expected:  # a lost GAP leaves a packet open until the next packet arrives
            self.invariants.explained["left_in_flight"] = len(left)
        else:
            self.left_in_flight = left

    def central_queue_peak(self) -> int:
        """Return the maximum fill in bytes of an SP switch's central queue in the trace; 0 if unused."""
        trace = self.doorway.trace()
        fills = trace["argument"][trace["event"] == TraceEvent.QUEUE_FILL]
        return int(fills.max(initial=0))

    def broken_invariants(self) -> list[str]:
        """Return the broken invariants of the run."""
        rules = [line for broken, _ in self._rules().values() for line in broken]
        return [*self.invariants.broken, *self._wild(), *self._left(), *rules]

    def invariants_by_name(self) -> dict[str, tuple[list[str], int]]:
        """Return the descriptions of unexplained violations, and the number of explained ones, by invariant."""
        left = self._left(), self.invariants.explained.get("left_in_flight", 0)
        return {
            **self.invariants.by_name(),
            "wild accesses": (self._wild(), 0),
            "left in flight": left,
            **self._rules(),
        }

    def _wild(self) -> list[str]:
        return [line for actor in (*self.hosts, *self.nics) for line in actor.wild]

    def _left(self) -> list[str]:
        return [f"still in flight at the end: {name}" for name in self.left_in_flight]

    def _rules(self) -> dict[str, tuple[list[str], int]]:
        """Return the unexplained violations of protocol rules, and the number of explained ones, by monitor."""
        if self.monitors is None:
            return {}
        return self.monitors.violations(self.kernel.now, self._drained, self.invariants.faults_expected)

    def lose(self, loss: float, damage: float, seed: int, reorder: float = 0.0) -> None:
        """Lose, damage or reorder packets on their way into hosts from now on, with these probabilities.

        The seed and the packet's number on its cable select the packets. The message layer decides whether that breaks
        invariants (`Lab.start_layer`).
        """
        for host in self.plan.cluster.topology.hosts:
            into = End(host, 0)
            cable, clock = self.numbers.cable_into(into), self.numbers.clock_of(into)
            back = self.numbers.cable_into(self.plan.cluster.topology.peers[into])
            self.doorway.lib.dw_loss(cable, clock, back, loss, damage, reorder, seed)

    def delay(self, into: End, us: int) -> None:
        """Delay the packets into a port by `us` from now on, so that packets on other routes overtake them.

        Raises ValueError for a delay of less than a character, or longer than the cable's model holds.
        """
        cable, clock = self.numbers.cable_into(into), self.numbers.clock_of(into)
        back = self.numbers.cable_into(self.plan.cluster.topology.peers[into])
        slots = us * US // self.plan.profile.integer("clock.link_ps")
        if self.doorway.lib.dw_delay(cable, clock, back, slots):
            raise ValueError(f"delay of the cable into {into}: {slots} characters; give 1 to {1 << 14}")

    def check_future(self, fault: str, at_ps: int) -> None:
        """Raise SanlabError if the time of a fault in ps is before the present time of the simulation."""
        if at_ps < (now := self.doorway.now()):
            cause = f"{at_ps / US:.6g} us is in the past: the simulation is at {now / US:.6g} us"
            raise SanlabError(f"fault {fault}", cause, "give a later time")

    def fault(self, into: End, kind: str, first_us: float, last_us: float, value: int = 0) -> None:
        """Inject a link fault at a port. Invariants that it explains do not fail the run.

        Args:
            into: Port at which the characters arrive.
            kind: "drop", "flip" (xor with `value`) or "stick" (at `value`).
            first_us: Begin of the fault in us.
            last_us: End of the fault in us.
            value: Character or xor mask of 9 bits.

        Raises:
            ValueError: The cable has too many faults.
            SanlabError: The fault begins before the present time.
        """
        self.check_future(f"{kind} at {into}", int(first_us * US))
        clock = self.numbers.clock_of(into)
        period = self.plan.profile.integer("clock.link_ps")
        first, end = (int(t * 1e6) // period + 1 for t in (first_us, last_us))
        if self.doorway.lib.dw_fault_add(self.numbers.cable_into(into), clock, first, end, FAULTS[kind], value):
            raise ValueError(f"too many faults on the cable into {into}")
        self.invariants.faults_expected = True
