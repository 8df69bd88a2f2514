"""Processes and threads of a timeline: a process for each host, NIC, switch and cable."""

from __future__ import annotations

from pymodels.trace import PARTS_PER_NODE, PORTS_PER_SWITCH, SWITCH_BASE
from tb.report.packets import ends
from tb.report.recorded import End, Legend
from tb.report.trace_events import Place, TraceEvents

HOST, CARD, DISPLAY, NIC, SWITCH, CABLE = 10_000, 15_000, 17_500, 20_000, 30_000, 40_000
"""First process number of each kind."""
APPLICATION, CPU, CALLS = 1, 2, 3
"""Threads of a host: calls of the application, instructions, and as many message threads as overlap."""
PROCESSOR, SEND_ENGINE, RECEIVE_ENGINE, DMA = 1, 2, 3, 4
"""Threads of a NIC; host DMA has one for each chain."""
CHAINS = 4
MOVES = DMA + CHAINS
"""Thread of an SP adapter's right engine, which moves received data."""
CIRCUIT, RESULT = 1, 2
"""Threads of an FPGA card."""


class Places:
    """Names and numbers of all processes and threads of a run."""

    def __init__(self, legend: Legend, events: TraceEvents) -> None:
        self.legend = legend
        self._events = events
        self._cards: set[int] = set()
        self._displays: set[int] = set()
        self._moving: set[int] = set()
        self._calling: set[int] = set()
        self._cables: dict[End, Place] = {}
        for node, name in enumerate(legend.hosts):
            events.process(HOST + node, f"host {name}", 2 * node)
            events.thread((HOST + node, CPU), "CPU")
            events.process(NIC + node, f"NIC of {name}", 2 * node + 1)
            for thread, what in ((PROCESSOR, "processor"), (SEND_ENGINE, "send"), (RECEIVE_ENGINE, "receive")):
                events.thread((NIC + node, thread), what)
            for chain in range(CHAINS):
                events.thread((NIC + node, DMA + chain), f"host DMA, chain {chain}")
        for number, (name, ports) in enumerate(legend.switches):
            events.process(SWITCH + number, f"switch {name}", SWITCH + number)
            for port in range(ports):
                far = legend.peers.get((name, port))
                if far is not None:
                    events.thread((SWITCH + number, port), f"port {port}, from {far[0]}")
        for number, (near, far) in enumerate(ends(legend)):
            events.process(CABLE + number, f"cable {near[0]} - {far[0]}", CABLE + number)
            for thread, (source, target) in enumerate(((near, far), (far, near))):
                self._cables[source] = (CABLE + number, thread)
                events.thread((CABLE + number, thread), f"{source[0]} to {target[0]}")

    def of_card(self, node: int, thread: int) -> Place:
        """Return a thread of a host's FPGA card, whose process the first call adds."""
        if node not in self._cards:
            self._cards.add(node)
            self._events.process(CARD + node, f"card of {self.legend.hosts[node]}", 2 * node + 1)
            self._events.thread((CARD + node, CIRCUIT), "circuits")
            self._events.thread((CARD + node, RESULT), "result, until the NIC sees it")
        return CARD + node, thread

    def of_display(self, node: int) -> Place:
        """Return the frame buffer of a host, whose process the first call adds."""
        place = DISPLAY + node, 1
        if node not in self._displays:
            self._displays.add(node)
            self._events.process(place[0], f"display of {self.legend.hosts[node]}", 2 * node + 1)
            self._events.thread(place, "frame buffer")
        return place

    def application(self, node: int) -> Place:
        """Return the thread of application calls on a host, which the first call adds."""
        place = HOST + node, APPLICATION
        if node not in self._calling:
            self._calling.add(node)
            self._events.thread(place, "calls of the application")
        return place

    def moves(self, node: int) -> Place:
        """Return the thread of the right engine of a host's SP adapter, which the first call adds."""
        place = NIC + node, MOVES
        if node not in self._moving:
            self._moving.add(node)
            self._events.thread(place, "right engine, received")
        return place

    def leaving_host(self, node: int) -> Place:
        """Return the cable direction out of a host."""
        return self._cables[self.legend.hosts[node], 0]

    def leaving_switch(self, switch: int, port: int) -> Place | None:
        """Return the cable direction out of a switch port, or None without a cable."""
        return self._cables.get((self.legend.switches[switch][0], port))


def node_of(unit: int) -> int:
    """Return the node of a unit."""
    return unit // PARTS_PER_NODE


def port_of(unit: int) -> tuple[int, int]:
    """Return switch and port of a unit."""
    return divmod(unit - SWITCH_BASE, PORTS_PER_SWITCH)
