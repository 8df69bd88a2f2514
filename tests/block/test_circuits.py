"""All user circuits against their models in `pymodels.card`.

Strategy: random messages (empty, of odd length, around a block of SHA-256) go through one circuit after another. There
is no reset between them, to include state carried between messages. Gaps at the input, stalls at the output, pauses of
the clock enable and a slow bank occur at random; one run has none. The results must match the model's, each with
exactly one end. A reset in the middle of a message must restore the configured state.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from pymodels.card.circuits import CIRCUITS, Circuit

LENGTHS = (0, 1, 2, 3, 4, 5, 31, 32, 51, 52, 53, 55, 56, 57, 59, 60, 61, 63, 64, 65, 119, 120, 121, 128, 200)


@dataclass(frozen=True)
class Message:
    """First argument and payload of a message."""

    argument: int
    payload: bytes


class Bench:
    """Driver of a circuit, word by word; `pause` is the probability that a side is idle in a clock."""

    def __init__(self, dut: Any, pause: float) -> None:
        self.dut = dut
        self.pause = pause
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.bank: dict[int, int] = {}
        self._read: int | None = None

    async def start(self) -> None:
        dut = self.dut
        for name in ("ce", "in_valid", "out_ready", "mem_ready", "mem_rvalid"):
            dut[name].value = 0
        for name in ("arguments", "in_last", "in_bytes", "in_data", "mem_rdata"):
            dut[name].value = 0
        dut.rst.value = 1
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        dut.rst.value = 0

    def _awake(self) -> bool:
        return self.rng.random() >= self.pause

    async def run(self, message: Message, stop_after: int | None = None) -> bytes:
        """Return the result of one message; with `stop_after`, send only so many words and return at once."""
        dut = self.dut
        words = [message.payload[i : i + 4] for i in range(0, len(message.payload), 4)] or [b""]
        dut.arguments.value = message.argument
        sent, result, ended = 0, bytearray(), False
        while not ended and (stop_after is None or sent < stop_after):
            offer = sent < len(words) and self._awake()
            dut.in_valid.value = int(offer)
            if offer:
                dut.in_data.value = int.from_bytes(words[sent].ljust(4, b"\xa5"), "little")
                dut.in_bytes.value = len(words[sent])
                dut.in_last.value = int(sent == len(words) - 1)
            dut.ce.value = int(self._awake())
            dut.out_ready.value = int(self._awake())
            dut.mem_ready.value = int(self._awake())
            await RisingEdge(dut.clk)  # it samples the values before the edge
            if not int(dut.ce.value):
                continue
            if offer and int(dut.in_ready.value):
                sent += 1
            if int(dut.out_valid.value) and int(dut.out_ready.value):
                count = int(dut.out_bytes.value)
                result += int(dut.out_data.value).to_bytes(4, "little")[:count] if count else b""
                ended = bool(int(dut.out_last.value))
            self._serve_bank()
        dut.in_valid.value = 0
        return bytes(result)

    def _serve_bank(self) -> None:
        """Answer each bank read in the circuit's next clock."""
        dut = self.dut
        dut.mem_rvalid.value = int(self._read is not None)
        if self._read is not None:
            dut.mem_rdata.value = self._read
            self._read = None
        if int(dut.mem_valid.value) and int(dut.mem_ready.value):
            address = int(dut.mem_addr.value)
            if int(dut.mem_write.value):
                self.bank[address] = int(dut.mem_wdata.value)
            else:
                self._read = self.bank.get(address, 0)


def circuit_name(dut: Any) -> str:
    return str(dut._name).removeprefix("myri_circuit_")


def messages(name: str, rng: random.Random, count: int) -> list[Message]:
    """Return random messages that are meaningful to the circuit."""
    if name == "fir16":
        first = [Message(1, rng.randbytes(32)), Message(0, b"\xff\x7f\x00\x80" * 20)]
        return first + [Message(0, rng.randbytes(rng.choice(LENGTHS) & ~1)) for _ in range(count)]
    if name == "histogram":
        counted = [Message(0, rng.randbytes(rng.choice(LENGTHS))) for _ in range(count)]
        return [Message(2, b""), *counted, Message(1, b"ignored"), Message(2, b"too"), Message(1, b"")]
    return [Message(rng.getrandbits(32), rng.randbytes(length)) for length in LENGTHS]


async def compare(bench: Bench, model: Circuit, sent: list[Message]) -> None:
    for number, message in enumerate(sent):
        got = await bench.run(message)
        assert got == model.run(message.argument, message.payload), f"message {number}: {message}"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_circuit_returns_the_result_of_its_model(dut: Any) -> None:
    bench, name = Bench(dut, 0.0), circuit_name(dut)
    await bench.start()
    await compare(bench, CIRCUITS[name](), messages(name, bench.rng, 8))


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def gaps_stalls_and_a_slow_clock_change_nothing(dut: Any) -> None:
    bench, name = Bench(dut, 0.3), circuit_name(dut)
    await bench.start()
    await compare(bench, CIRCUITS[name](), messages(name, bench.rng, 6))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_reset_within_a_message_restores_the_configured_circuit(dut: Any) -> None:
    bench, name = Bench(dut, 0.1), circuit_name(dut)
    await bench.start()
    await compare(bench, CIRCUITS[name](), messages(name, bench.rng, 2)[:3])
    await bench.run(Message(0, bench.rng.randbytes(80)), stop_after=7)
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    bench._read = None
    bench.bank.clear()
    await compare(bench, CIRCUITS[name](), messages(name, bench.rng, 2)[:3])
