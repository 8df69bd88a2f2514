"""Is every event noticed that meets a polling loop, a bus or a link on its way to sleep, at any phase?

Strategy: no firmware. In each round one event occurs for which a processor polls. The time from the start of the
polling loop to the event grows by a step in each round. It begins before the loop begins and ends when everything
sleeps again. The previous round has only just ended, so that the bus, the card and the link also fall asleep at that
time. The delay of each notice is recorded. A lost event hangs the run.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Any

from firmware.common.host.card import load_doorbells
from firmware.common.nic.host_dma import DONE
from firmware.verbs import Watch
from pymodels.formats.sp import SpPacket
from pymodels.nics.fifo.registers import Ready, Region
from pymodels.nics.sp.registers import SpReg, SpStatus, store_command
from pymodels.registers import Isr, Pci, Reg, Size
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.engines import ARRIVED, PACKET, ROUTED, SCRATCH, LanaiEngines
from tests.interrupt_rounds import FifoCard

EVENTS = ("all", "store", "signal", "bell", "dma", "memory", "timer", "packet")
OPTIONS = {
    "event": Option(EVENTS[0], "what is polled for; all that the NIC has, one after the other", choices=EVENTS),
    "rounds": Option(100, "rounds", 1, 100_000),
    "step_ps": Option(7777, "by how much the event comes later in each round", 1, 1_000_000),
    "lead_ps": Option(300_000, "by how much the first event comes before the polling loop begins", 0, 10_000_000),
}
PATHS, FIFO_PATHS = "via", "hpam"
"""Layers whose polling paths are charged, with and without a processor on the NIC."""
LOOK, LOOK_BESIDE, HOST_LOOK, FIFO_LOOK = "look_command", "look_news", "look_room", "look_ready"
WORD, BESIDE, BELLS = 0x9000, 0x9010, 0xA000
"""SRAM addresses of the polled word, a constant word, and the doorbell FIFO."""
TICKS, CLOCKS = 2, 300
"""Timer settings: of a LANai in 0.5 us, and of the SP adapter in NIC clocks."""
COUNTER = 0xFF
DRAIN_PS = 20_000_000


class Event(ABC):
    """Event of node 0 that is polled for repeatedly."""

    own = False
    """True if the polling processor itself starts the cause of the event, before it polls."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.nic: Any = next(iter(lab.running.nics), None)  # a FIFO card has no processor
        self.loop: Any = None
        self.last = len(lab.running.hosts) - 1

    async def start(self) -> None:  # noqa: B027 - some events need none
        """Prepare all rounds."""

    async def prepare(self, number: int) -> None:  # noqa: B027 - some events need none
        """Prepare a round."""

    @abstractmethod
    def happen(self, number: int) -> None:
        """Let the event of a round happen, or begin."""

    @abstractmethod
    def poll(self, number: int) -> Awaitable[Any]:
        """Poll until the event of a round is noticed."""

    async def clear(self, number: int) -> None:  # noqa: B027 - some events need none
        """Clear the event of a round."""

    def spin(self, watch: Watch) -> None:
        """Prepare the NIC's polling loop: the watch, and a word that never changes."""
        self.loop = self.nic.poll_loop([watch, Watch(BESIDE, 0, LOOK_BESIDE)])

    def store(self, address: int, word: int) -> None:
        """Let the host store a word to the bus."""
        self.host.spawn(self.host.pio_write(address, word.to_bytes(4, "big")), "a store")


class Store(Event):
    """The host stores the word of the NIC's memory that the NIC polls."""

    async def start(self) -> None:
        self.spin(Watch(WORD, 0, LOOK))

    def happen(self, number: int) -> None:
        self.store(self.host.nic_base + WORD, number + 1)

    def poll(self, number: int) -> Awaitable[Any]:
        self.loop.expect(0, number)
        return self.loop.run(0)  # type: ignore[no-any-return]


class Flagged(Event):
    """A bit of a LANai's ISR, or of the SP adapter's STATUS, that the NIC polls."""

    register: int = Reg.ISR
    mask = 0

    async def start(self) -> None:
        self.spin(Watch(self.register, 0, LOOK, self.mask, register=True))

    def poll(self, number: int) -> Awaitable[Any]:
        return self.loop.run(0)  # type: ignore[no-any-return]

    async def clear(self, number: int) -> None:
        self.nic.write(self.register, self.mask)
        await self.nic.read(self.register)


class Signal(Flagged):
    """The host sets the signal bit of a LANai's ISR."""

    mask = 1 << Isr.LANAI_SIG

    def happen(self, number: int) -> None:
        self.store(self.host.card.register(Reg.ISR), self.host.card.signal(self.mask))


class Bell(Flagged):
    """The host stores to the doorbell region of a LANai 9."""

    mask = 1 << Isr.WAKE0

    async def start(self) -> None:
        await super().start()
        await load_doorbells(self.host, BELLS)

    def happen(self, number: int) -> None:
        self.store(self.host.nic_base + Pci.DOORBELL, number)

    async def clear(self, number: int) -> None:
        await super().clear(number)
        entry = self.nic.load(BELLS + Size.DOORBELL_ENTRY * (number % (4096 // Size.DOORBELL_ENTRY)) + 4)
        self.lab.check("words of doorbells", entry == number, f"doorbell {number} has the word {entry}")
        self.nic.write(Reg.DOORBELL_CONSUMER0, number + 1)


class Dma(Flagged):
    """The host DMA of a LANai ends."""

    mask, own, to_nic = DONE, True, True

    async def start(self) -> None:
        await super().start()
        self.engines = LanaiEngines(self.lab)
        self.buffer = self.host.allocate(4096)
        self.begins = (0, 0)

    async def prepare(self, number: int) -> None:
        self.begins = self.engines._prepare(64, self.buffer.address, self.to_nic)
        self.engines._position ^= 1
        await self.nic.read(self.register)

    def happen(self, number: int) -> None:
        self.nic.write(*self.begins)


class SpDma(Event):
    """A STORE of the SP adapter ends: a counter of STATUS."""

    own = True

    async def start(self) -> None:
        self.spin(Watch(SpReg.STATUS, 0, LOOK, COUNTER << SpStatus.STORED, register=True))
        self.buffer = self.host.allocate(4096)

    async def prepare(self, number: int) -> None:
        self.nic.write(SpReg.COMMAND_HIGH, store_command(4, packet=False))
        self.nic.write(SpReg.COMMAND_LOW, self.buffer.address)
        await self.nic.read(SpReg.STATUS)

    def happen(self, number: int) -> None:
        self.nic.write(SpReg.DATA_ONE, number + 1)

    def poll(self, number: int) -> Awaitable[Any]:
        self.loop.expect(0, (number & COUNTER) << SpStatus.STORED)
        return self.loop.run(0)  # type: ignore[no-any-return]


class Memory(Dma):
    """A word of host memory that the host polls is written by a LANai's host DMA."""

    own, to_nic = False, False

    async def prepare(self, number: int) -> None:
        await super().prepare(number)
        self.nic.store(SCRATCH, number + 1)

    def poll(self, number: int) -> Awaitable[Any]:
        return self.host.poll([(self.buffer.address, number)], HOST_LOOK)  # type: ignore[no-any-return]

    async def clear(self, number: int) -> None:
        await self.loop.run(0)  # the last word of the block may be in flight
        await super().clear(number)


class SpMemory(SpDma):
    """A word of host memory that the host polls is written by a STORE of the SP adapter."""

    own = False

    def poll(self, number: int) -> Awaitable[Any]:
        return self.host.poll([(self.buffer.address, number)], HOST_LOOK)  # type: ignore[no-any-return]


class Timer(Flagged):
    """A LANai's timer runs out."""

    mask, own = 1 << Isr.TIME0, True

    def happen(self, number: int) -> None:
        self.nic.write(Reg.IT0, TICKS)


class SpTimer(Flagged):
    """The SP adapter's timer runs out."""

    register, mask, own = SpReg.STATUS, 1 << SpStatus.TIME, True

    def happen(self, number: int) -> None:
        self.nic.write(SpReg.TIMER, CLOCKS)

    async def clear(self, number: int) -> None:
        self.nic.write(SpReg.ACK, self.mask)
        await self.nic.read(self.register)


class Packet(Flagged):
    """A packet of the last node arrives at a LANai."""

    mask = 1 << Isr.RECV

    async def start(self) -> None:
        await super().start()
        self.far: Any = self.lab.running.nics[self.last]
        self.route = self.lab.plan.cluster.routes_from(self.last)[0]

    async def prepare(self, number: int) -> None:
        self.nic.write(Reg.RMP, ARRIVED)
        self.nic.write(Reg.RML, ARRIVED + 1024)
        await self.nic.read(self.register)

    def happen(self, number: int) -> None:
        far = self.far
        end, skip = ROUTED + len(self.route) + len(PACKET), -len(self.route) % far.word_bytes
        far.sram[ROUTED + skip : end + skip] = self.route + PACKET
        far.write(Reg.SA, skip)
        far.write(Reg.SMP, ROUTED)
        far.write(Reg.SMLT, end + skip)


class SpPackets(Flagged):
    """A packet of the last node arrives at an SP adapter."""

    register, mask = SpReg.STATUS, 1 << SpStatus.ARRIVED

    async def start(self) -> None:
        await super().start()
        self.far: Any = self.lab.running.nics[self.last]
        self.route = self.lab.plan.cluster.routes_from(self.last)[0]
        self.numbers = itertools.count(1)

    def happen(self, number: int) -> None:
        packet = SpPacket(self.route, self.last, 0, (next(self.numbers), 1), bytes(8))
        for index, word in enumerate((*packet.header.words(), *packet.via)):
            self.far.write(SpReg.SEND0 + 4 * index, word)
        for index in range(2):
            self.far.write(SpReg.OWN0 + 4 * index, 0)
        self.far.write(SpReg.SEND_START, len(packet.data) << 16)

    async def clear(self, number: int) -> None:
        self.nic.write(SpReg.RECV_NEXT, 0)
        await self.nic.read(self.register)


class FifoPacket(Event):
    """A packet of the last host arrives at a FIFO card: a register that the host polls."""

    async def start(self) -> None:
        self.far: Any = self.lab.running.hosts[self.last]
        self.card = FifoCard(self.host, self.far, self.lab.plan.cluster.routes_from(self.last)[0])
        await self.card.start()
        self.store(self.host.nic_base + Region.INTERRUPT, 0)

    async def prepare(self, number: int) -> None:
        await self.card.prepare()

    def happen(self, number: int) -> None:
        self.card.news(second=False)

    def poll(self, number: int) -> Awaitable[Any]:
        ready = self.host.nic_base + Region.RX_READY
        return self.host.poll_card(ready, 0, FIFO_LOOK, 1 << Ready.VALID)  # type: ignore[no-any-return]

    async def clear(self, number: int) -> None:
        came = await self.card.take(lambda: None)
        self.lab.check("number of packets", came == 1, f"{came} packets are there in round {number}")
        self.store(self.host.nic_base + Region.INTERRUPT, 0)


LANAI: dict[str, type[Event]] = {
    "store": Store,
    "signal": Signal,
    "dma": Dma,
    "memory": Memory,
    "timer": Timer,
    "packet": Packet,
}
BY_KIND: dict[str, dict[str, type[Event]]] = {
    "lanai9": {**LANAI, "bell": Bell},
    "lanai4": LANAI,
    "fifo": {"packet": FifoPacket},
    "sp": {"store": Store, "dma": SpDma, "memory": SpMemory, "timer": SpTimer, "packet": SpPackets},
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    kind, wanted = lab.plan.profile.kind, lab.text("event")
    lab.running.use_layer(FIFO_PATHS if kind == "fifo" else PATHS)
    events = BY_KIND[kind]
    for name in events if wanted == EVENTS[0] else (wanted,):
        await _rounds(lab, name, events[name](lab))


async def _rounds(lab: Lab, name: str, event: Event) -> None:
    """Run all rounds of one event."""
    await event.start()
    await lab.kernel.sleep(DRAIN_PS)
    offsets, delays = list[float](), list[float]()
    for number in range(lab.option("rounds")):
        await event.prepare(number)
        offset = number * lab.option("step_ps")
        delays.append(await _round(lab, event, number, offset))
        offsets.append(offset)
        await event.clear(number)
    lab.series(f"noticed_{name}", offsets, delays, "ps", "ps")
    lab.metric(f"latest_{name}_ps", max(delays))
    await lab.kernel.sleep(DRAIN_PS)


async def _round(lab: Lab, event: Event, number: int, offset: int) -> int:
    """Let event and polling loop meet; return when the event is noticed, in ps from the beginning of the round."""
    kernel, lead = lab.kernel, lab.option("lead_ps")
    begun = kernel.now
    if event.own:
        event.happen(number)
        await kernel.sleep(1 + offset, "the polling loop")
    else:
        kernel.at(begun + 1 + offset, lambda: event.happen(number))
        await kernel.sleep(1 + lead, "the polling loop")
    await event.poll(number)
    return kernel.now - begun
