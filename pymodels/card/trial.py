"""Circuit in Python without a simulator: messages in, results out, and the user clocks that it takes.

For tests of a circuit, as in `assert trial(edge_detect, [b"abc"])[0].result == b"..."`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Iterable
from typing import NamedTuple

from pymodels.card.slot import MOST_BYTES, SLOT_WORDS, Function, Header, Running, Slot


class Answer(NamedTuple):
    """Result of a message, and the user clocks from its first word to the last word of the result."""

    result: bytes
    clocks: int


class _Arrival:
    """Awaitable that suspends the circuit once, until the trial continues it."""

    def __await__(self) -> Generator[_Arrival, None, None]:
        yield self


class _TrialPort:
    """Port of a slot without a card. The clocks are those of `hdl/sim/cluster/sim_circuit.sv`."""

    def __init__(self) -> None:
        self.message: Header | None = None
        self.results: list[bytes] = []
        self.clocked = 0
        self._bank = bytearray(4 * SLOT_WORDS)

    async def receive(self) -> Header:
        while self.message is None:
            await _Arrival()
        header, self.message = self.message, None
        self.clocked += max(1, -(-header.size // 4))
        return header

    def send(self, data: bytes) -> None:
        self.clocked += 1 + max(1, -(-len(data) // 4))
        self.results.append(data)

    def clocks(self, count: int) -> None:
        self.clocked += count

    def read(self, word: int, count: int) -> Awaitable[bytes]:
        self.clocked += 1 + 2 * count
        return self._read(word, count)

    async def _read(self, word: int, count: int) -> bytes:
        return bytes(self._bank[4 * word : 4 * (word + count)])

    def write(self, word: int, data: bytes) -> None:
        self.clocked += 1 + len(data) // 4
        self._bank[4 * word : 4 * word + len(data)] = data


def trial(circuit: Function, messages: Iterable[bytes | tuple[int, bytes]], most: int = MOST_BYTES) -> list[Answer]:
    """Run a circuit over messages, in order, from its configured state.

    Args:
        circuit: The coroutine function.
        messages: Payloads, or pairs of first argument and payload.
        most: Largest result in bytes.

    Returns:
        The answer to each message.

    Raises:
        CircuitError: The circuit failed; it has the circuit's name.
    """
    name, port = f"circuit {circuit.__name__}", _TrialPort()
    running = Running(name, circuit, Slot(name, port, most), lambda awaited: isinstance(awaited, _Arrival)).__await__()
    next(running)
    answers = []
    for message in messages:
        argument, payload = message if isinstance(message, tuple) else (0, message)
        port.message, port.clocked, port.results = Header((argument, 0, 0, 0), bytes(payload)), 0, []
        next(running)
        answers.append(Answer(port.results[0], port.clocked))
    running.close()
    return answers
