"""One part of a small world, a host or a NIC, taken alone: along a list of steps, and what it then is.

Hosts and NICs touch each other by messages only: stores and loads on the bus, what a NIC's DMA brings or fetches, the
interrupt line, packets. Here they are taken off their wires, and handed to whoever asks. Coroutines cannot be copied,
so a state is reached by taking its steps again, in a process forked at the beginning.
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
"""Packets, DMA blocks and stores of the CPU move in one piece."""
TIMING = Timing(
    chunk=WHOLE,
    dma_chunk=WHOLE,
    pio_line=WHOLE,
    slack=1 << 60,
    rtc_tick=1 << 40,
    interrupt_most=Timing.interrupt_least,
)
"""A tick of the clock is longer than everything else together, so that only timers move it. No time is drawn: a draw
would be part of the state.
"""

Step = tuple[Any, ...]
"""("turn", number) of the state's list, with what it fetched if it fetches; or a message that comes: ("packet", bytes,
damaged), ("store", offset, bytes), ("bring", address, bytes), ("interrupt", level); or a question that changes nothing:
("load", offset), ("fetch", address, size).
"""
Sent = tuple[tuple[int, Step], ...]
"""Messages, each with the part that it is for: the NIC of node n is part 2n, its host 2n + 1."""


@dataclass(frozen=True)
class Shown:
    """A turn as the search knows it."""

    part: str
    what: str
    is_timer: bool
    is_packet: bool
    """A packet enters the network."""
    asks: Step | None
    """What it asks of the other part of its node."""


@dataclass(frozen=True)
class Seen:
    """A state of a part as the search knows it."""

    digest: bytes
    turns: tuple[Shown, ...]
    armed: bool
    """A packet can be taken."""
    record: tuple[Any, ...]
    left: str
    """What must not be left when nothing more happens."""
    wrong: str = ""
    """What its software raised."""


def machine(nodes: int, fine: bool, **given: Any) -> Machine:
    """A machine for a small world. `fine`: each piece of software takes time, and its end is a turn."""
    kernel = TurnKernel(fine)
    kernel.now = TICKS * TIMING.rtc_tick | 1
    return Machine(nodes, timing=TIMING, trace=False, kernel=kernel, network=TurnNetwork, spin=TurnSpin, **given)


class Far:
    """The other side of the bus: what is stored there is sent as a message, what is loaded was asked for before."""

    def __init__(self, stage: Stage, to: int, kind: str, sram_bytes: int = 0) -> None:
        self._stage, self._to, self._kind = stage, to, kind
        self.sram_bytes = sram_bytes
        self.answer: Any = None

    def write(self, address: int, data: bytes) -> None:
        """A store, or what DMA brings."""
        self._stage.sent.append((self._to, (self._kind, address, bytes(data))))

    def read(self, address: int, size: int = 4) -> Any:
        """A load, or what DMA fetches."""
        return self.answer

    def interrupt(self, level: bool) -> None:
        """The line."""
        self._stage.sent.append((self._to, ("interrupt", level)))


class Arrived(ReceiverEnd, Protocol):
    """The receiving side of a card."""

    @property
    def armed(self) -> bool:
        """The next packet finds a place."""

    @property
    def level(self) -> int:
        """Packets that have arrived."""


class CardNic(MachineNic, Protocol):
    """A NIC without a processor: it has neither timer nor DMA."""

    who: str
    memories: list[Memory]

    @property
    def receive(self) -> Arrived:
        """See `MachineNic`."""

    def forget(self) -> None:
        """Give states that behave alike one form."""


class Stage:
    """All parts at their beginning; after `enter`, one of them to play."""

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
        """Messages that left since the last step began."""
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
        """Begin to play a part; the others stand still."""
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
        """Its name and its memories."""
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
        """Take a step."""
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
        """What the part can do."""
        return [turn for turn in self.kernel.turns() if self._is_mine(turn.part)]

    def _is_mine(self, name: str) -> bool:
        return name.startswith((f"{self.unit}:", f"{self.unit} ")) or name == self.unit

    def seen(self, wrong: str = "") -> Seen:
        """The state now."""
        record = self.play.record(self.node) if self.is_host else ()
        return Seen(
            digest=self._digest.of(*self.roots(), record, wrong),
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
        """Of the load that waits at the head of the bus: the task knows it."""
        inner: Any = self.kernel.waiter(part).resume.__self__  # type: ignore[attr-defined]
        while getattr(inner, "cr_await", None) is not None and hasattr(inner.cr_await, "cr_frame"):
            inner = inner.cr_await
        return int(inner.cr_frame.f_locals["offset"])

    def roots(self) -> Sequence[object]:
        """Everything that the part is, memories apart."""
        lanes = [(name, [call for _, call in lane]) for name, lane in sorted(self.kernel.lanes.items()) if lane]
        spins = [spin for spin in self.kernel.looking if self._is_mine(spin._why)]
        return (self.host if self.is_host else self.nic, self.tasks(), list(self.kernel.ready), lanes, spins)

    def tasks(self) -> list[Task]:
        """The part's tasks."""
        return [task for task in self.kernel.tasks if self._is_mine(task.name)]
