"""Part of a small world, a host or a NIC, executed alone along a list of steps.

Hosts and NICs interact by messages only: stores and loads on the bus, DMA, the interrupt line, packets. Here these
messages are detached from the wires and returned to the caller. Coroutines cannot be copied: a state is reached by
repeating its steps in a fork of a process at the initial state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pymodels.kernel import Task
from pymodels.machine import Machine, ModelNic
from pymodels.machine.memory import Memory
from pymodels.machine.network import ReceiverEnd
from pymodels.machine.parts import MachineNic
from pymodels.machine.schedule import PIO_READ, Turn, TurnKernel, TurnNetwork, TurnSpin
from pymodels.machine.timing import Timing
from pymodels.registers import Flag
from tb.explore.digest import TICKS, Digest
from tb.explore.world import Play, SmallWorld

WHOLE = 1 << 20
"""Size so large that packets, DMA blocks and stores of the CPU move in one piece."""
TIMING = Timing(
    chunk=WHOLE,
    dma_chunk=WHOLE,
    pio_line=WHOLE,
    slack=1 << 60,
    rtc_tick=1 << 40,
    interrupt_most=Timing.interrupt_least,
)
"""Timing of small worlds. A tick of the clock is longer than everything else together, so that only timers advance it.
No time is random, since a random number would be part of the state.
"""

Step = tuple[Any, ...]
"""Step of a part, which is one of:

- a turn: ("turn", index in the state's list), followed by the fetched value if it fetches one;
- an incoming message: ("packet", bytes, damaged), ("store", offset, bytes), ("bring", address, bytes) or ("interrupt",
  level);
- a question that does not change the state: ("load", offset) or ("fetch", address, size).
"""
Sent = tuple[tuple[int, Step], ...]
"""Sent messages, each with the number of its target part: 2n for the NIC of node n, 2n + 1 for its host."""


@dataclass(frozen=True)
class Shown:
    """Description of a turn for the search."""

    part: str
    what: str
    is_timer: bool
    is_packet: bool
    """True if a packet enters the network."""
    asks: Step | None
    """Question to the other part of the node."""


@dataclass(frozen=True)
class Seen:
    """Description of a part's state for the search."""

    digest: bytes
    turns: tuple[Shown, ...]
    armed: bool
    """True if a packet can be received."""
    record: tuple[Any, ...]
    left: str
    """Description of what must not be left at the end."""
    wrong: str = ""
    """Exception raised by the software."""


def machine(nodes: int, fine: bool, **given: Any) -> Machine:
    """Return a machine for a small world; with `fine` each piece of software takes time, and its end is a turn."""
    kernel = TurnKernel(fine)
    kernel.now = TICKS * TIMING.rtc_tick | 1
    return Machine(nodes, timing=TIMING, trace=False, kernel=kernel, network=TurnNetwork, spin=TurnSpin, **given)


class Far:
    """Other side of the bus: stores become messages, loads return an answer obtained before."""

    def __init__(self, stage: Stage, to: int, kind: str, sram_bytes: int = 0) -> None:
        self._stage, self._to, self._kind = stage, to, kind
        self.sram_bytes = sram_bytes
        self.answer: Any = None

    def write(self, address: int, data: bytes) -> None:
        """Send a store or DMA write as a message."""
        self._stage.sent.append((self._to, (self._kind, address, bytes(data))))

    def read(self, address: int, size: int = 4) -> Any:
        """Return the answer for a load or DMA read."""
        return self.answer

    def interrupt(self, level: bool) -> None:
        """Send a change of the interrupt line as a message."""
        self._stage.sent.append((self._to, ("interrupt", level)))


class Arrived(ReceiverEnd, Protocol):
    """Receive side of a card."""

    @property
    def armed(self) -> bool:
        """True if the next packet can be received."""

    @property
    def level(self) -> int:
        """Number of received packets."""


class CardNic(MachineNic, Protocol):
    """NIC without a processor, which has neither timer nor DMA."""

    who: str
    memories: list[Memory]

    @property
    def receive(self) -> Arrived:
        """See `MachineNic`."""

    def forget(self) -> None:
        """Replace equivalent states by a canonical one."""


class Stage:
    """All parts in their initial state; after `enter`, one of them is executed."""

    def __init__(self, world: SmallWorld) -> None:
        self.world = world
        self.play: Play = world.play()
        self.machine = self.play.machine
        kernel, network = self.machine.kernel, self.machine.network
        assert isinstance(kernel, TurnKernel)
        assert isinstance(network, TurnNetwork)
        self.kernel, self.network = kernel, network
        self.parts = 2 * len(self.machine.names)
        self.sent: list[tuple[int, Step]] = []
        """Messages sent since the start of the last step."""
        self.machine.run()
        kernel.choose()
        network.out = self._out
        self._routes = [
            {route: vnn for vnn, route in self.machine.view(node)["routes"].items()}
            for node in range(len(self.machine.names))
        ]

    def _out(self, source: int, packet: bytes) -> None:
        for route, vnn in self._routes[source].items():
            if packet.startswith(route):
                self.sent.append((2 * vnn, ("packet", packet[len(route) :], False)))
                return
        raise RuntimeError(f"node {source} sends a packet whose route leads nowhere: {packet[:8].hex(' ')}")

    def enter(self, part: int) -> None:
        """Select the part to execute; the others do not run."""
        self.part, self.node, self.is_host = part, part // 2, part % 2 == 1
        self.host, self.nic = self.machine.host(self.node), cast(ModelNic | CardNic, self.machine.nics[self.node])
        blind = self.play.blind(self.node)
        if self.is_host:
            self.unit, memories, name = self.host.who, [self.host.memory], "memory"
            self.far = Far(self, part - 1, "store", self.nic.card.sram_bytes)
            self.host._card = self.far  # type: ignore[assignment]
            self.kernel.owners = {id(self.far): f"{self.unit}: bus", id(self.host.scheduler): f"{self.unit}: scheduler"}
        else:
            name, self.far = "sram", Far(self, part + 1, "bring")
            self.unit, memories = self._enter_nic(self.nic, self.far)
        first, *others = memories
        seen = [(first, list(blind.get(name, []))), *((memory, []) for memory in others)]
        self._digest = Digest(seen, self.world.left_out, self._now)
        if self.is_host:
            self.host.spawn(self.play.programs()[self.node](), "program")
        self.kernel.settle()

    def _enter_nic(self, nic: ModelNic | CardNic, far: Far) -> tuple[str, list[Memory]]:
        """Return the name and the memories of the NIC."""
        engines: dict[str, object] = {"send engine": nic.send}
        if isinstance(nic, ModelNic):
            engines |= {**nic.transfers, "timer": nic.special}
            for dma in nic.transfers.values():
                dma.host_memory = far  # type: ignore[assignment]
        nic.card.interrupt = far.interrupt
        self.kernel.owners = {id(engine): f"{nic.who}: {name}" for name, engine in engines.items()}
        return nic.who, [nic.sram] if isinstance(nic, ModelNic) else nic.memories

    def _now(self) -> tuple[int, int]:
        return self.kernel.now, self.kernel.now // TIMING.rtc_tick

    def step(self, step: Step) -> None:
        """Execute a step."""
        self.sent.clear()
        kind, *given = step
        if kind == "turn":
            if len(given) > 1:
                self.far.answer = given[1]
            self.kernel.take(self.turns()[given[0]])
        elif kind == "packet":
            self.network.deliver(self.node, *given)
        elif kind == "store":
            self.nic.card.write(*given)
        elif kind == "bring":
            self.host.memory.write(*given)
        elif kind == "interrupt":
            self.host._interrupt_line(*given)
        elif kind == "load":
            self.sent.append((self.part + 1, ("loaded", self.nic.card.read(*given))))
        else:
            self.sent.append((self.part - 1, ("fetched", self.host.memory.read(*given))))
        self.kernel.settle()
        if not self.is_host:
            self.play.normalise(self.node)

    def turns(self) -> list[Turn]:
        """Return the possible turns of the part."""
        return [turn for turn in self.kernel.turns() if self._is_mine(turn.part)]

    def _is_mine(self, name: str) -> bool:
        return name.startswith((f"{self.unit}:", f"{self.unit} ")) or name == self.unit

    def seen(self, wrong: str = "") -> Seen:
        """Return the present state."""
        record = self.play.record(self.node) if self.is_host else ()
        return Seen(
            digest=self._digest.hash(*self.roots(), record, wrong),
            turns=() if wrong else tuple(self._shown(turn) for turn in self.turns()),
            armed=not self.is_host and self.nic.receive.armed,
            record=record,
            left="" if self.is_host else self.play.idle(self.node),
            wrong=wrong,
        )

    def _shown(self, turn: Turn) -> Shown:
        return Shown(turn.part, turn.what, turn.is_timer, turn.sends, self._asks(turn))

    def _asks(self, turn: Turn) -> Step | None:
        if turn.what == PIO_READ:
            return ("load", self._offset(turn.part))
        if turn.part.endswith("host DMA") and isinstance(self.nic, ModelNic):
            _, link, size, _, address = self.nic.dma._job
            return ("fetch", address, size) if link & int(Flag.E2L) else None
        return None

    def _offset(self, part: str) -> int:
        """Return the offset of the load at the head of the bus queue, from the frame of its task."""
        inner: Any = self.kernel.waiter(part).resume.__self__  # type: ignore[attr-defined]
        while getattr(inner, "cr_await", None) is not None and hasattr(inner.cr_await, "cr_frame"):
            inner = inner.cr_await
        return int(inner.cr_frame.f_locals["offset"])

    def roots(self) -> Sequence[object]:
        """Return all objects of the part except memories."""
        lanes = [(name, [call for _, call in lane]) for name, lane in sorted(self.kernel.lanes.items()) if lane]
        spins = [spin for spin in self.kernel.looking if self._is_mine(spin._why)]
        return (self.host if self.is_host else self.nic, self.tasks(), list(self.kernel.ready), lanes, spins)

    def tasks(self) -> list[Task]:
        """Return the tasks of the part."""
        return [task for task in self.kernel.tasks if self._is_mine(task.name)]
