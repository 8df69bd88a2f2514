"""Bench around hdl/nic/fifo/sim/sim_fifo_bench.sv: host driver, link partner, model and scoreboard.

The driver acts as the host, by stores and loads over the bus, and updates the model in the same way. Packets that the
card sends are received by a monitor of the link and compared in order with those of the model.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodels.link.characters import Symbol
from pymodels.link.crc8 import crc8
from pymodels.nics.fifo.cells import Cell
from pymodels.nics.fifo.model import FifoModel
from pymodels.nics.fifo.registers import Form, Ready, Region, Size, State, Status, circuit, descriptor
from tb.agents.checker import Checker
from tb.agents.host import CpuPort, HostMemory
from tb.agents.link import LinkDriver, LinkMonitor
from tb.agents.pci import PciMonitor
from tb.agents.sram import SramImage
from tb.agents.streams import never, sometimes
from tests.block.netlists import on_netlist

BASE = 0xE0000000
CARD_PS, LINK_PS, PCI_PS = 25000, 6250, 30000
LINK_OFFSET_PS, PCI_OFFSET_PS = 500, 1000
"""Phase of the link clock, so that edges of two clocks never coincide: their order in a bench would be undefined."""
COMMON_PS = 150000
"""Period after which the three clocks have the same phases again, ps."""
USED = 16 * Size.BUFFER
"""Bytes of the card's memory that the tests use."""
EDGES = ("edges", "link_edges", "pci_edges")
TRACE = {
    "clk": (("tr_tx_start", "tr_tx_start_key"), ("tr_tx_read", "tr_tx_read_key"), ("tr_rx_first", "tr_rx_first_key"),
            ("tr_rx_done", "tr_rx_done_key"), ("tr_pio_write", "tr_pio_addr")),
    "link": (("tr_tx_head", "tr_tx_key"), ("tr_tx_tail", "tr_tx_key"), ("tr_rx_head", "tr_rx_key"),
             ("tr_rx_tail", "tr_rx_key")),
}  # fmt: skip
"""Trace strobes of each clock in the order of the bits of tr_clk and tr_link, and the values valid with them."""
BUSY = ("busy", "link_busy", "cable_busy", "pci_busy", "segment_busy")


class Edges:
    """Clock grid for the link agents: samplers before each edge of the character clock, drivers after it."""

    def __init__(self) -> None:
        self.samplers: list[Callable[[int], None]] = []
        self.drivers: list[Callable[[int], None]] = []

    async def run(self, clock: Any) -> None:
        """Call samplers and drivers at every edge."""
        edge, now = RisingEdge(clock), 0
        while True:
            await edge
            for each in (*self.samplers, *self.drivers):
                each(now)
            now += 1


class Peer(LinkDriver):
    """Link partner; with `stops` it repeatedly sends STOP between the characters of its packets."""

    stops = False
    _was = False

    def _drive(self, now: int) -> None:
        if self.stops and now % 8 == 0:
            self._show(Symbol.STOP)
        elif self._was and not self.stops:
            self._show(Symbol.GO)
        else:
            super()._drive(now)
            return
        self._was = self.stops

    def _show(self, character: int) -> None:
        self._shown = character
        self.bus.rx.value = character


class FifoBench:
    """Driver of one card with its model and scoreboard."""

    def __init__(self, dut: Any, form: Form, sleep: int = 1, wide: int = 0, latency: int = 1) -> None:
        self.dut, self.form = dut, form
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.edge = RisingEdge(dut.clk)
        inputs = {
            "rst": 1,
            "sleep": int(sleep and not on_netlist()),
            "cfg_wide": wide,
            "cfg_cdc_latency": latency,
            "rx": 0,
        }
        for name, value in inputs.items():
            dut[name].value = value
        self.sram = SramImage(dut, USED)
        self.cpu = CpuPort(dut, dut.pci_clk)
        self.memory = HostMemory(dut, dut.pci_clk)
        self.bus = PciMonitor(dut, "pci", dut.pci_clk, dut.rst)
        self.grid = Edges()
        self.peer = Peer(dut, self.grid)  # type: ignore[arg-type]  # of a Grid it uses what Edges has
        self.link = LinkMonitor(dut, self.grid)  # type: ignore[arg-type]
        self.model = FifoModel()
        self.expected: list[bytes] = []
        self.log: list[tuple[int, str, int]] = []
        """(time, strobe, key or address) of every trace strobe."""
        self.sizes: list[int] = []
        """Bytes of each packet sent to the link side, according to the trace."""
        self.origin = 0
        self._checker = Checker(dut)
        self._checker.add_interface(self.link, self.expected)
        self._started = False

    async def start(self) -> None:
        """Release reset at a fixed phase of the three clocks, fill the memory, and select the form."""
        dut = self.dut
        dut.rst.value = 1
        if not self._started:
            await self._first_time()
        self.peer.lanes[0].characters.clear()
        self.peer.lanes[0].stopped = False
        self.peer.lanes[0].gaps = never()
        self.peer.stops = False
        self.link.packet.clear()
        image = self.rng.randbytes(USED) if self.form is Form.BUFFERS else bytes(USED)
        self.model = FifoModel(self.form, memory=bytearray(image))
        self.expected.clear()
        await Timer(20 * COMMON_PS, "ps")
        self.sram.fill(image)
        await self.aligned()
        dut.rst.value = 0
        await self.edge
        await self.write(Region.MODE, self.form)

    async def _first_time(self) -> None:
        self._started = True
        self.origin = int(get_sim_time("ps"))
        clocks = (0, "clk", CARD_PS), (LINK_OFFSET_PS, "link_clk", LINK_PS), (PCI_OFFSET_PS, "pci_clk", PCI_PS)
        for offset, name, period in clocks:
            if offset:
                await Timer(self.origin + offset - int(get_sim_time("ps")), "ps")
            Clock(self.dut[name], period, unit="ps", impl="gpi").start(start_high=False)
        await Timer(COMMON_PS, "ps")
        cocotb.start_soon(self.grid.run(self.dut.link_clk))
        for name, clock in (("clk", self.dut.clk), ("link", self.dut.link_clk)):
            cocotb.start_soon(self._watch(RisingEdge(clock), name))

    async def aligned(self) -> None:
        """Wait until the three clocks have their initial phases."""
        await Timer(COMMON_PS - (int(get_sim_time("ps")) - self.origin) % COMMON_PS + 1, "ps")

    @property
    def now(self) -> int:
        """Time since the clocks began, ps."""
        return int(get_sim_time("ps")) - self.origin

    async def _watch(self, edge: Any, name: str) -> None:
        strobes, keys = self.dut[f"tr_{name}"], [(strobe, self.dut[key]) for strobe, key in TRACE[name]]
        while True:
            await edge
            value = strobes.value
            if not value.is_resolvable or not int(value):
                continue
            found = [pair for bit, pair in enumerate(keys) if int(value) >> bit & 1]
            if "tr_tx_read" in (strobe for strobe, _ in found):
                self.sizes.append(int(self.dut.tr_tx_read_bytes.value))
            self.log += [(self.now, strobe, int(key.value)) for strobe, key in found]

    # Host.
    async def write(self, register: int, value: int) -> None:
        """Store to a register."""
        self.cpu.store(BASE + register, value.to_bytes(4, "big"))
        await self.cpu.all_taken()

    async def read(self, register: int) -> int:
        """Load a register."""
        return int.from_bytes(await self.cpu.load(BASE + register, 4), "big")

    async def load(self, offset: int, count: int) -> bytes:
        """Load bytes of the card's region."""
        data = b""
        while count:
            part = min(count, 8 - offset % 8)
            data += await self.cpu.load(BASE + offset, part)
            offset, count = offset + part, count - part
        return data

    def store(self, offset: int, data: bytes) -> None:
        """Store to the card's memory and to the model's."""
        self.cpu.store(BASE + offset, data)
        self.model.store(offset, data)

    def describe(self, number: int, state: State, size: int, skip: int = 0, own: int = 0) -> None:
        """Write a descriptor."""
        self.store(Size.DESCRIPTOR * number, descriptor(state, size, skip, own).to_bytes(4, "big"))

    async def transmit(self, number: int) -> None:
        """Write TX_READY."""
        await self.write(Region.TX_READY, number)
        self.cpu.fence()
        await self.cpu.all_taken()
        self.model.transmit(number)
        self._expect()

    async def send(self, number: int, packet: bytes, skip: int = 0, own: int = 0) -> None:
        """Fill a buffer and send it."""
        self.store(Size.BUFFER * number + skip, packet)
        self.describe(number, State.READY, len(packet), skip, own)
        await self.transmit(number)

    async def free(self, number: int) -> None:
        """Write RX_FREE."""
        self.model.free(number)
        await self.write(Region.RX_FREE, number)

    async def change(self, form: Form) -> None:
        """Write MODE."""
        await self.write(Region.MODE, form)
        self.model.mode(form)

    async def next_packet(self) -> bytes | None:
        """Return the packet in RX_READY, compared with the model's oldest, and write RX_NEXT. None: no packet."""
        word = await self.read(Region.RX_READY)
        if not word >> Ready.VALID:
            return None
        expected, body = self.model.ready[0]
        assert word == expected, f"RX_READY is {word:#x}, must be {expected:#x}"
        place = Size.BUFFER * (word >> Ready.NUMBER & 0x7F)
        assert self.sram.load(place, len(body)) == body
        part = self.rng.randrange(max(1, len(body) - 20))
        assert await self.load(place + part, len(body[part : part + 20])) == body[part : part + 20]
        await self.write(Region.RX_NEXT, 0)
        self.model.next_packet()
        return body

    async def connect(self, number: int, route: bytes) -> None:
        """Set the route of a circuit."""
        self.store(Size.CIRCUIT * number, circuit(route))

    async def send_cell(self, cell: Cell, combine: bool = False) -> None:
        """Store a cell to CELL_OUT."""
        data = cell.header.to_bytes(4, "big") + cell.payload
        self.cpu.store(BASE + Region.CELL_OUT + Size.CELL_HEADER, data, wc=combine)
        self.cpu.fence()
        await self.cpu.all_taken()
        self.model.send_cell(cell)
        self._expect()

    async def next_cell(self) -> Cell | None:
        """Return the cell in CELL_IN, compared with the model's oldest, and write CELL_NEXT. None: no cell."""
        if not await self.read(Region.STATUS) >> Status.ARRIVED & 1:
            return None
        data = await self.load(Region.CELL_IN + Size.CELL_HEADER, 4 + Size.PAYLOAD)
        cell = Cell(int.from_bytes(data[:4], "big"), data[4:])
        assert cell == self.model.cells[0]
        await self.write(Region.CELL_NEXT, 0)
        self.model.next_cell()
        return cell

    # Link.
    def arrive(self, packet: bytes, good_crc: bool = True) -> None:
        """Send a packet to the card over the link."""
        crc = crc8(packet) ^ (0 if good_crc else self.rng.randrange(1, 256))
        self.peer.append((0, packet + bytes([crc])))
        self.model.arrive(packet, good_crc)

    def gaps(self, share: float) -> None:
        """Set the fraction of idle characters on the link to the card."""
        self.peer.lanes[0].gaps = sometimes(share, self.rng) if share else never()

    def hold(self, held: bool) -> None:
        """Hold the link by STOP, or release it."""
        self.peer.stops = self.model.held = held
        self.model.go_on()
        self._expect()

    def _expect(self) -> None:
        """Expect the packets that the model has sent."""
        sent = self.model.sent
        self.expected += [packet + bytes([crc8(packet)]) for packet in sent]
        sent.clear()

    # Ends.
    async def quiet(self) -> None:
        """Wait until no packet is in flight and no clock is needed."""
        self.cpu.fence()
        await self.cpu.all_taken()
        calm = 0
        for _ in range(30000):
            await self.edge
            at_rest = self.peer.idle and int(self.dut.asleep.value) and int(self.dut.idle_out.value)
            calm = calm + 1 if at_rest else 0
            if calm > 20:
                return
        awake = [name for name in BUSY if int(self.dut[name].value)]
        raise AssertionError(f"{', '.join(awake) or 'a posted store or a packet'} does not become idle")

    async def check(self) -> None:
        """Check, at rest, that all packets were sent and that memory and errors match the model."""
        await self.quiet()
        self._checker.finish()
        found, errors = await self.read(Region.ERRORS), self.model.errors
        assert found == sum(1 << error for error in errors), f"ERRORS is {found:#x}, must be {errors}"
        assert await self.read(Region.DROPPED) == self.model.dropped
        if self.form is Form.BUFFERS:
            self._check_memory()
        assert not int(self.dut.st_in_flight.value)

    def _check_memory(self) -> None:
        """Compare the card's memory with the model, except for buffers whose packets have been compared."""
        found, must = self.sram.load(0, USED), self.model.memory
        places = {n: slice(Size.BUFFER * n, Size.BUFFER * (n + 1)) for n in range(USED // Size.BUFFER)}
        wrong = [n for n, place in places.items() if n not in self.model.filled and found[place] != must[place]]
        assert wrong == [], f"buffers {wrong} differ"


async def begin(dut: Any, form: Form, **settings: int) -> FifoBench:
    """Return a bench out of reset."""
    bench = FifoBench(dut, form, **settings)
    await bench.start()
    return bench
