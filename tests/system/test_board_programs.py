"""Programs on stand-in boards with a single node: a NIC whose cable leads back to it, and an FPGA card.

Strategy: the programs use the host verbs on the port of the stand-in. The NIC executes the C firmware of echo.
A message of its host crosses the cable and returns through the NIC's SRAM to host memory. The card takes messages from
its banks and masters the bus to write each result into host memory; results are compared with those of the circuits'
models.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from firmware.echo.host import Echo
from firmware.grim.formats import HEADER_BYTES, Header, MessageType, key, unpack
from firmware.view import ClusterView
from pymodels.board.map import Top
from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import EXAMPLE, names
from pymodels.card.image import build
from pymodels.card.registers import BANK_BYTES, CONFIG, REGISTERS, CardReg, Configure, Forward, Load, entry
from pymodels.cards import SLOT
from pymodels.trace import Part, TraceEvent, unit
from tb.board.host import BoardHost
from tb.board.program import running_board, with_firmware
from tb.fpga.board_design import find_design
from tb.fpga.board_sim import StandIn, start

PATIENCE_S = 60.0
ME, CHANNEL, SOURCE, REPLY = 0x0302, 5, 0x0100, 55
"""Endpoint and channel of the card, endpoint of the messages' source, and handler of their results."""
CONTROL, FIRST_HANDLER = 7, 100
LIMIT, QUEUE_BYTES = 0x1000, 0x2000
IMAGE = "digests.bit"


@pytest.fixture(name="loopback", scope="module")
def fixture_loopback() -> Iterator[StandIn]:
    """Yield a stand-in board with one node whose cable leads back to it."""
    with start(find_design("loopback")) as board:
        yield board


@pytest.fixture(name="card", scope="module")
def fixture_card() -> Iterator[StandIn]:
    """Yield a stand-in board with an FPGA card."""
    with start(find_design("card")) as board:
        yield board


def test_a_message_of_echo_returns_by_the_cable_of_a_single_node(loopback: StandIn) -> None:
    with running_board(loopback.port, PATIENCE_S) as board:
        (host,), (nic,) = board.hosts, board.nics
        view = ClusterView(0, (host.name,), {0: b""}, sram_bytes=nic.sram_bytes)
        echo = Echo(host, with_firmware(view, "echo", nic.kind))

        async def program() -> list[tuple[int, bytes]]:
            await echo.start()
            found = []
            for size in (0, 5, 64):
                await echo.send(0, bytes(range(size)))
                found.append(await echo.receive())
            return found

        assert board.run(program()) == [(0, bytes(range(size))) for size in (0, 5, 64)]
        assert not board.broken_invariants()
        trace = board.records()
    arrived = trace[(trace["unit"] == unit(0, Part.LINK)) & (trace["event"] == TraceEvent.RX_HEAD)]
    assert len(arrived) == 3, "every message has crossed the cable"


class Card:
    """Driver of the card of a board's host, which receives the results in host memory."""

    def __init__(self, host: BoardHost) -> None:
        self.host = host
        self.queue = host.allocate(QUEUE_BYTES).address
        self.pointers = host.allocate(32).address
        """Words of the card: back and front pointer of the results, and read pointers of the banks."""
        self._back, self._turn = [0, 0], 0

    async def write(self, register: int, value: int) -> None:
        await self.host.pio_write(SLOT + REGISTERS + register, value.to_bytes(4, "big"))

    async def read(self, register: int) -> int:
        return await self.host.pio_read(SLOT + REGISTERS + register)

    async def start(self) -> None:
        """Write the card's parameters, load an image, and let the card take messages."""
        back, front, *reads = range(self.pointers, self.pointers + 32, 8)
        given = {
            CardReg.LIMIT: LIMIT, CardReg.SELF: CHANNEL << 16 | ME, CardReg.CONTROL_HANDLER: CONTROL,
            CardReg.NIC_QUEUE: self.queue, CardReg.NIC_LIMIT: QUEUE_BYTES // 2, CardReg.NIC_BACK: back,
            CardReg.NIC_FRONT: front, CardReg.NIC_READ0: reads[0], CardReg.NIC_READ1: reads[1],
        }  # fmt: skip
        for register, value in given.items():
            await self.write(register, value)
        for index in range(len(names(EXAMPLE))):
            await self.write(CardReg.HANDLER + 4 * index, 1 << 31 | FIRST_HANDLER + index)
        await self.write(CardReg.CONFIG, Configure.START)
        await self.host.pio_write(SLOT + CONFIG, build(EXAMPLE, IMAGE, None, 64).pack())
        await self.write(CardReg.CONFIG, Configure.END)
        while await self.read(CardReg.CONFIG) != Load.DONE:
            pass
        await self.write(CardReg.RUN, 1)

    async def send(self, handler: int, arguments: tuple[int, int, int, int], payload: bytes) -> None:
        """Write a message into the next bank, and move its back pointer."""
        words = (len(payload) + 3) // 4
        data = Header(
            0, 0, MessageType.ACTIVE, 4 * words - len(payload), 0, SOURCE, words, ME, CHANNEL, handler, arguments
        ).pack() + payload  # fmt: skip
        data += bytes(-len(data) % 8)
        bank = self._turn
        await self.host.pio_write(SLOT + bank * BANK_BYTES + self._back[bank], data)
        self._back[bank] += len(data)
        await self.write((CardReg.BACK0, CardReg.BACK1)[bank], self._back[bank])
        self._turn ^= 1

    async def result(self, front: int) -> tuple[bytes, int]:
        """Return the payload of the result at an offset of the queue, and the offset of the next one."""
        await self.host.poll([(self.pointers, front)], "look_flag")
        (end,) = self.host.load_words(self.pointers, 1)
        data = self.host.load_bytes(self.queue + front + 8, end - front - 8)
        header = unpack(key(0, 0).to_bytes(4, "big") + data[4:])  # a NIC writes the first word
        assert (header.source, header.destination, header.handler) == (ME, SOURCE, REPLY)
        return data[HEADER_BYTES : HEADER_BYTES + header.bytes], end


def test_a_card_answers_messages_of_its_host_with_the_results_of_the_circuits(card: StandIn) -> None:
    assert card.manifest.identity.top is Top.CARD
    payload = random.Random(1).randbytes(100)
    with running_board(card.port, PATIENCE_S) as board:
        driver = Card(board.hosts[0])

        async def program() -> list[bytes]:
            await driver.start()
            found, front = [], 0
            for circuit in ("loopback", "crc32"):
                number = names(EXAMPLE).index(circuit)
                await driver.send(CONTROL, (number, *entry(Forward.REPLY), REPLY), b"")
                answer, front = await driver.result(front)
                assert answer == b""
                await driver.send(FIRST_HANDLER + number, (1, 0, 0, REPLY), payload)
                result, front = await driver.result(front)
                found.append(result)
            assert await driver.read(CardReg.MESSAGES) == 4
            return found

        assert board.run(program()) == [CIRCUITS[name]().run(1, payload) for name in ("loopback", "crc32")]
        assert not board.broken_invariants()
        assert board.link.state(0).fault == 0
        trace = board.records()
    seen = trace[trace["unit"] == unit(0, Part.FPGA)]
    give = TraceEvent.CARD_GIVE  # of a control message, which no circuit takes, and of a result
    assert [TraceEvent(code) for code in seen["event"]] == [give, TraceEvent.CARD_TAKE, give] * 2
    size = HEADER_BYTES + len(payload) + -len(payload) % 8  # messages with a payload are in bank 1
    taken = seen[seen["event"] == TraceEvent.CARD_TAKE]
    assert list(taken["argument"]) == [BANK_BYTES, BANK_BYTES + size]
    assert (np.diff(seen["time"]) > 0).all()
    assert not board.link.trace_lost()


def test_registers_and_banks_of_a_card_keep_what_its_host_writes(card: StandIn) -> None:
    with running_board(card.port, PATIENCE_S) as board:
        host, driver = board.hosts[0], Card(board.hosts[0])

        async def program() -> list[int]:
            await driver.write(CardReg.OWN, 0b0101)
            for bank in range(4):
                await host.pio_write(SLOT + bank * BANK_BYTES + 64, (0x01020304 * (bank + 1)).to_bytes(4, "big"))
            owned = await driver.read(CardReg.OWN)
            words = [await host.pio_read(SLOT + bank * BANK_BYTES + 64) for bank in range(4)]
            return [owned, *words]

        assert board.run(program()) == [0xF5, *(0x01020304 * (bank + 1) for bank in range(4))]
