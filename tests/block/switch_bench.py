"""Bench around `myri_switch`: an agent at every port, the functional model, the scoreboard."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import cocotb

from pymodels.link.characters import Symbol, packet_characters
from pymodels.link.crc8 import crc8
from pymodels.link.packet import Packet, route_byte
from pymodels.settings import SWITCH
from pymodels.switch.crossbar import Crossbar, Fate
from tb.agents.checker import Checker
from tb.agents.grid import Grid
from tb.agents.link import LinkDriver, LinkMonitor
from tb.agents.settings import SettingsPort, drive
from tests.block.bundles import lanes

DEFAULTS = {
    "cfg_slack": 80,
    "cfg_stop_mark": 56,
    "cfg_go_mark": 40,
    "cfg_refresh": 8,
    "cfg_short_timeout": 16,
    "cfg_long_timeout": 4_000_000,
    "cfg_beat_period": 1600,
    "cfg_fall_through": 0,
    "stop_lasts": 0,
}
PACKAGE = "switch/myri_switch_pkg"
STROBES = ("head", "grant", "tail", "illegal")
"""Fields of the trace that the bench records."""


class Bench:
    """Switch with an agent at every port, the model and the scoreboard.

    Packets carry their source in the type, so that the expected order is known per input and output.
    """

    def __init__(self, dut: Any, sleeping: bool = False, present: int = -1, **settings: int) -> None:
        self.dut = dut
        self.ports = int(dut.PORTS.value.to_unsigned())
        self.rng = random.Random(cocotb.RANDOM_SEED)
        present &= (1 << self.ports) - 1
        drive(dut, {**DEFAULTS, **settings, "present": present}, [SettingsPort(dut.cfg, SWITCH)])
        self.model = self.reference(frozenset(port for port in range(self.ports) if present >> port & 1))
        self.grid = Grid(dut, sleeping, self.gated())
        self.driver = LinkDriver(dut, self.grid, self.ports)
        self.monitors = [LinkMonitor(dut, self.grid, port) for port in range(self.ports)]
        self.expected: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        self.received: list[tuple[int, int, bytes]] = []
        self.fates: Counter[tuple[int, Fate]] = Counter()
        self.checker = Checker(dut)
        for monitor in self.monitors:
            self.checker.add_interface(monitor, [], compare_fn=self._compare(monitor.lane))
        self.strobes: list[tuple[int, str, int]] = []
        self._quiet = -1  # last sample of the trace without a strobe
        self.grid.samplers.append(self._watch)

    def gated(self) -> bool:
        """Return True if the ports have gated clocks."""
        return bool(int(self.dut.GATED.value.to_unsigned()))

    def reference(self, present: frozenset[int]) -> Crossbar:
        """Return the functional model of a switch with cables at the given ports."""
        return Crossbar(self.ports, present)

    def source_of(self, wire: bytes) -> int:
        """Return the input port of a packet that left as `wire`."""
        return wire[3]

    def _compare(self, output: int) -> Any:
        def compare(wire: bytes) -> None:
            source = self.source_of(wire)
            queue = self.expected[source, output]
            assert queue, f"output {output}: {wire.hex()} was never sent by port {source}"
            assert wire == queue.pop(0)
            self.received.append((source, output, wire))

        return compare

    def _watch(self, now: int) -> None:
        trace = int(self.dut.port_trace.value)
        if trace == self._quiet:
            return
        strobes = {name: self.traced(name, trace) for name in STROBES}
        if not any(map(any, strobes.values())):
            self._quiet = trace
        for name, ports in strobes.items():
            if any(ports):
                self.strobes.append((now, name, sum(bit << port for port, bit in enumerate(ports))))
        for port, key in enumerate(self.traced("key", trace)):
            assert not strobes["tail"][port] or key & 0xFF == port, "the last byte of the key is the source"

    def traced(self, field: str, trace: int | None = None) -> list[int]:
        """Return one field of the trace of every port, now or in a sample of `port_trace`."""
        value = int(self.dut.port_trace.value) if trace is None else trace
        return lanes(value, PACKAGE, "switch_trace_t", field, self.ports)

    def packet(self, source: int, output: int, size: int) -> Packet:
        """Return a packet whose fourth type byte is its source."""
        kind = self.rng.getrandbits(23) << 8 | source
        return Packet(bytes([route_byte(output - source)]), kind, self.rng.randbytes(size))

    def wire(self, source: int, output: int, size: int) -> bytes:
        """Return a packet for this kind of switch as it arrives."""
        return self.packet(source, output, size).to_wire()

    def send(self, source: int, wire: bytes) -> Fate:
        """Queue a packet at a port and expect the model's result."""
        passage = self.model.passage(source, wire)
        self.fates[source, passage.fate] += 1
        if passage.fate is Fate.FORWARDED:
            self.expected[source, passage.output].append(passage.wire)
        self.driver.lanes[source].characters.extend(packet_characters(wire))
        return passage.fate

    def send_random(self, longest: int = 60) -> None:
        """Send one random packet from every port."""
        for source in range(self.ports):
            output = self.rng.randrange(self.ports)
            self.send(source, self.wire(source, output, self.rng.randint(0, longest)))

    def stall(self, share: float) -> None:
        """Have receivers send STOP for random intervals, refreshed, and GO."""
        state = [0] * self.ports

        def drive(now: int) -> None:
            for port in range(self.ports):
                lane = self.driver.lanes[port]
                if state[port] == 0 and self.rng.random() < share / 20:
                    state[port] = self.rng.randint(1, 60)
                    lane.characters.appendleft(int(Symbol.STOP))
                elif state[port] > 0:
                    state[port] -= 1
                    if state[port] == 0:
                        lane.characters.appendleft(int(Symbol.GO))
                    elif state[port] % 6 == 0:
                        lane.characters.appendleft(int(Symbol.STOP))

        self.grid.drivers.insert(0, drive)

    @property
    def done(self) -> bool:
        return self.driver.idle and not any(self.expected.values())

    async def settle(self, limit: int = 60_000) -> None:
        """Wait until all expected packets have arrived, and check that no others follow."""
        await self.grid.run(limit, lambda: self.done)
        left = {pair: len(queue) for pair, queue in self.expected.items() if queue}
        assert not left, f"never arrived (input, output): {left}"
        await self.grid.run(120)
        self.checker.finish()
        self.check_counters()

    def counter(self, name: str) -> list[int]:
        """Return one counter of every port."""
        return lanes(int(self.dut.port_counts.value), PACKAGE, "switch_counts_t", name, self.ports)

    def check_counters(self) -> None:
        """Check counters and strobes against the model's results."""
        counters = {"packets": Fate.FORWARDED, "bad_route": Fate.BAD_ROUTE, "absent": Fate.ABSENT}
        for name, fate in counters.items():
            assert self.counter(name) == [self.fates[port, fate] for port in range(self.ports)], name
        forwarded = [self.fates[port, Fate.FORWARDED] for port in range(self.ports)]
        for name in ("head", "grant", "tail"):
            told = [value for _, strobe, value in self.strobes if strobe == name]
            assert [sum(value >> port & 1 for value in told) for port in range(self.ports)] == forwarded, name
        assert not any(self.counter("overflow"))


async def random_crcs(bench: Bench, places: Callable[[int], Sequence[int]]) -> None:
    """Send forty packets, every other one with a flipped bit at one of `places`: wrong CRC-8s must stay wrong."""
    await bench.grid.reset()
    for number in range(40):
        source, output = bench.rng.randrange(bench.ports), bench.rng.randrange(bench.ports)
        wire = bytearray(bench.wire(source, output, bench.rng.randint(0, 30)))
        if number % 2:
            wire[bench.rng.choice(places(len(wire)))] ^= 1 << bench.rng.randrange(8)
        bench.send(source, bytes(wire))
    bad = sum(1 for queue in bench.expected.values() for wire in queue if crc8(wire))
    await bench.settle()
    assert bad == 20
    assert sum(1 for _, _, wire in bench.received if crc8(wire)) == 20


async def random_routes(bench: Bench) -> None:
    """Send packets to all outputs, a fourth with a bad route byte: these must be consumed and counted."""
    await bench.grid.reset()
    for _ in range(8):
        for source in range(bench.ports):
            wire = bytearray(bench.wire(source, bench.rng.randrange(bench.ports), bench.rng.randint(0, 20)))
            if bench.rng.randrange(4) == 0:
                wire[0] = bench.rng.choice([0x00, 0x05, 0x7F, 0xC1, 0xFF, 0x80 | bench.ports - source])
            bench.send(source, bytes(wire))
    await bench.settle()
    assert sum(bench.counter("bad_route")) > 0 and sum(bench.counter("absent")) > 0


async def illegal_characters(bench: Bench) -> None:
    """Send an illegal character within a packet of every other port: only that port may report it."""
    await bench.grid.reset()
    bench.send_random(30)
    struck = range(0, bench.ports, 2)
    for port in struck:
        bench.driver.lanes[port].characters.insert(6, 0x044)
    await bench.settle()
    told = [value for _, name, value in bench.strobes if name == "illegal"]
    assert told == [sum(1 << port for port in struck)]


async def first_character(bench: Bench, size: int) -> int:
    """Return the grid points from a packet's first character at `rx` of port 0 to its first at `tx` of port 1."""
    await bench.grid.reset()
    bench.send(0, bench.wire(0, 1, size))
    first: list[int] = []

    def watch(now: int) -> None:
        if int(bench.dut.rx.value) and not first:
            first.append(now)

    bench.grid.samplers.append(watch)
    await bench.settle()
    return bench.monitors[1].log_of_data[0][0] - first[0]


async def _episode(bench: Bench, rng: random.Random, bursts: int) -> tuple[Any, int]:
    """Run bursts, silences and blocked outputs; return each data character and trace strobe with its time, and the
    edges used.
    """
    bench.rng = rng
    await bench.grid.reset(rng.randint(0, 500))
    for _ in range(bursts):
        bench.send_random(40)
        blocked = rng.randrange(bench.ports)
        bench.driver.lanes[blocked].characters.appendleft(int(Symbol.STOP))
        await bench.grid.run(rng.choice([100, 300]))
        bench.driver.lanes[blocked].characters.appendleft(int(Symbol.GO))
        await bench.grid.run(rng.choice([5, 400, 600]))
    await bench.settle()
    return ([monitor.log_of_data for monitor in bench.monitors], bench.strobes), bench.grid.edges


async def sleeping_changes_nothing(
    made: Callable[[bool, random.Random], Bench], run: int, bursts: int, most: float
) -> None:
    """Compare an episode of a bench `made` with gated and with free-running clocks.

    All characters must be equal, and the gated run may use at most the fraction `most` of the edges.
    """
    seed = random.Random(cocotb.RANDOM_SEED + run).randint(0, 1 << 30)
    results = []
    for sleeping in (False, True):
        rng = random.Random(seed)
        results.append(await _episode(made(sleeping, rng), rng, bursts))
    (awake, all_edges), (asleep, edges) = results
    assert asleep == awake
    assert edges < most * all_edges, "it hardly slept"
