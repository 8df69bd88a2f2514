"""Bench around sim_sp_bench: processor, bus master and link of the SP adapter's data path, and model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from pymodels.nic.sp import Coming, SpModel
from pymodels.nics.sp.registers import SpCommand, fetch_command, read_command, store_command
from tb.agents.streams import StreamSink, StreamSource, never, sometimes
from tests.block.dma_bench import HOST_BYTES, PciSide

NIC_PS = 7500
STROBES = (
    *("w_command", "w_words", "w_next", "w_send", "w_own", "w_start"),
    *("w_pair", "w_index", "w_data", "r_index", "pio_req", "cpu_req"),
)
COUNTED = (
    *("set_fetched", "set_stored", "set_sent", "set_read", "set_alarm", "pio_gnt", "cpu_gnt"),
    *("st_dma_error", "st_send_misuse", "st_queue_overflow", "st_packet_misuse", "tr_dma_start", "tr_tx_start"),
)


class EngineBench:
    """Host memory, link and processor, with the expected state in `model`."""

    def __init__(self, dut: Any, sleep: bool = True, start_clocks: int = 0, beat: int = 2) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.edge, self.middle = RisingEdge(dut.clk), FallingEdge(dut.clk)
        settings = {"cfg_start_clocks": start_clocks, "cfg_bus_beat": beat, "cfg_bus_access": 2 * beat}
        for name, value in {"rst": 1, "sleep": int(sleep), **dict.fromkeys(STROBES, 0), **settings}.items():
            dut[name].value = value
        Clock(dut.clk, NIC_PS, unit="ps", impl="gpi").start(start_high=False)
        self.host = bytearray(self.rng.randbytes(HOST_BYTES))
        self.model = SpModel(bytearray(self.host))
        self.pci = PciSide(self)
        self.counts = dict.fromkeys(COUNTED, 0)
        self.sent: list[bytes] = []
        """Packets sent to the link, without CRC."""
        self.expected: list[bytes] = []
        self._going = bytearray()
        self._sink = StreamSink(dut, "send", ("tail", "last", "lanes"), dut.clk, self._goes)
        self._source = StreamSource(dut, "recv", ("tail", "count", "syndrome", "lanes"), dut.clk)
        cocotb.start_soon(self._watch())

    async def start(self) -> None:
        """Release reset."""
        await ClockCycles(self.dut.clk, 5)
        self.dut.rst.value = 0
        await self.edge

    def pace(self, stall: float) -> None:
        """Set random gaps and stalls on bus and link, and competing requests on the internal bus."""
        self.pci.pace(stall)
        self._sink.stalls = sometimes(stall, self.rng) if stall else never()
        self._source.gaps = sometimes(stall, self.rng) if stall else never()
        if stall:
            cocotb.start_soon(self._others(stall))

    def hold_link(self, held: bool) -> None:
        """Stop the link, or release it."""
        self._sink.stalls = sometimes(1.0, self.rng) if held else never()

    async def _others(self, share: float) -> None:
        """Request the internal bus as host and processor until it is granted."""
        dut, asked = self.dut, dict.fromkeys(("pio", "cpu"), False)
        while True:
            await self.middle
            free = [who for who, asks in asked.items() if not asks or int(dut[f"{who}_gnt"].value)]
            await self.edge
            for who in free:
                asked[who] = self.rng.random() < share / 10
                dut[f"{who}_req"].value = int(asked[who])

    async def _watch(self) -> None:
        handles = [(name, self.dut[name]) for name in COUNTED]
        while True:
            await self.edge
            if not int(self.dut.rst.value):
                for name, handle in handles:
                    self.counts[name] += int(handle.value)

    def _goes(self, beat: Mapping[str, int]) -> None:
        """Receive an entry sent to the link."""
        self._going += beat["lanes"].to_bytes(8, "little")[: beat["last"]]
        if beat["tail"]:
            self.sent.append(bytes(self._going))
            self._going.clear()

    def comes(self, packet: Coming) -> None:
        """Send a packet from the link, in words of 8 bytes; the tail entry holds the rest."""
        wire, at = packet.wire, 0
        while len(wire) - at >= 8:
            lanes = int.from_bytes(wire[at : at + 8], "little")
            self._source.queue.append({"tail": 0, "count": 8, "syndrome": 0, "lanes": lanes})
            at += 8
        lanes = int.from_bytes(wire[at:].ljust(8, b"\0"), "little")
        syndrome = 0 if packet.good_crc else 0x5A
        self._source.queue.append({"tail": 1, "count": len(wire) - at, "syndrome": syndrome, "lanes": lanes})

    # The processor.
    async def strobe(self, name: str, **values: int) -> None:
        """Write a register as the processor, in one clock."""
        for wire, value in values.items():
            self.dut[wire].value = value
        self.dut[name].value = 1
        await self.edge
        self.dut[name].value = 0

    async def command(self, first: int, address: int) -> None:
        """Insert a command once there is room."""
        while not int(self.dut.queue_room.value):
            await self.edge
        await self.strobe("w_command", w_pair=first << 32 | address)

    async def fetch(self, address: int, size: int) -> None:
        """Insert a FETCH."""
        self.model.fetch(address, size)
        await self.command(fetch_command(size), address)

    async def bring(self, address: int, size: int) -> None:
        """Insert a READ."""
        self.model.bring(address, size)
        await self.command(read_command(size), address)

    async def alarm(self) -> None:
        """Insert an ALARM."""
        self.model.alarms += 1
        await self.command(1 << SpCommand.ALARM, 0)

    async def store(self, address: int, words: list[int]) -> None:
        """Insert a STORE of words."""
        self.model.store(address, b"".join(word.to_bytes(4, "big") for word in words))
        await self.command(store_command(4 * len(words), False), address)
        for at in range(0, len(words), 2):
            pair = (*words[at : at + 2], 0)
            await self.strobe("w_words", w_pair=pair[0] << 32 | pair[1])

    async def deliver(self, address: int, data: bytes) -> None:
        """Insert a STORE of user bytes of the packet at the head, which are `data`."""
        self.model.store(address, data)
        await self.command(store_command(len(data), True), address)

    async def done_with(self) -> None:
        """Write RECV_NEXT."""
        while not int(self.dut.queue_room.value):
            await self.edge
        await self.strobe("w_next")
        await self.edge

    async def launch(self, own: bytes | None = None) -> None:
        """Send a packet of random header words and the oldest FETCH, or of the processor's own bytes."""
        words = [self.rng.getrandbits(32) for _ in range(6)]
        size = len(own) << 16 if own is not None else len(self.model.fifo[0])
        self.expected.append(self.model.send(words, own))
        while not int(self.dut.send_free.value):
            await self.edge
        for index, word in enumerate(words):
            await self.strobe("w_send", w_index=index, w_data=word)
        for at in range(0, len(own or b""), 4):
            word = int.from_bytes((own or b"")[at : at + 4].ljust(4, b"\0"), "big")
            await self.strobe("w_own", w_index=at // 4, w_data=word)
        await self.strobe("w_start", w_data=size)
        await self.edge

    async def look(self) -> tuple[int, list[int]]:
        """Wait for a packet at the head, and return RECV_STATUS and RECV0 to RECV7."""
        while not int(self.dut.arrived.value):
            await self.edge
        words = []
        for index in range(8):
            self.dut.w_index.value = index
            await self.middle
            words.append(int(self.dut.recv_word.value))
        await self.edge
        return int(self.dut.recv_status.value), words

    async def read_words(self, count: int) -> bytes:
        """Return the content of the read buffer."""
        words = []
        for index in range(count):
            self.dut.r_index.value = index
            await self.middle
            words.append(int(self.dut.read_word.value))
        await self.edge
        return b"".join(word.to_bytes(4, "big") for word in words)

    async def quiet(self) -> None:
        """Wait until no operation is in progress."""
        await self.edge
        for _ in range(20000):
            await self.edge
            if int(self.dut.left_idle.value) and not int(self.dut.in_flight.value):
                break
        await ClockCycles(self.dut.clk, 20)
        assert int(self.dut.left_idle.value) and not int(self.dut.in_flight.value), "still under way"

    def check(self) -> None:
        """Check host memory, packets and counts against the model, no misuse, and an idle clock."""
        assert self.host == self.model.host
        assert self.sent == self.expected
        counted = {"set_fetched": self.model.fetched, "set_stored": self.model.stored, "set_sent": len(self.expected)}
        assert {name: self.counts[name] for name in counted} == counted
        assert self.counts["set_alarm"] == self.model.alarms
        assert {name: count for name, count in self.counts.items() if name.startswith("st_") and count} == {}
