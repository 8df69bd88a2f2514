"""Slot of a circuit in Python: what `async def circuit(slot)` receives, sends, and charges.

The same circuit runs in a simulated card, behind the pins of a circuit in SystemVerilog, and in `pymodels.card.trial`
without a simulator. A port connects the slot to either of them.

Only `receive` and `read` suspend a circuit. The other verbs are orders that the slot executes one after the other, each
in its own user clocks. The circuit meanwhile has run ahead to its next `receive` or `read`.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pymodels.card.registers import BANK_BYTES, MOST_MESSAGE, SLOTS
from pymodels.errors import SanlabError

Words = NDArray[np.uint32]
"""Words of 32 bits, byte i of a message in bits 8i+7:8i of its word."""
SLOT_WORDS = BANK_BYTES // SLOTS // 4
"""Words of the slot's part of bank 3."""
MOST_BYTES = MOST_MESSAGE
"""Largest result in bytes."""
MOST_CLOCKS = 100_000_000
"""User clocks that a circuit may charge between two messages; more count as an endless loop (ours: 2 s at 50 MHz)."""
NOT_ANSWERED = "a circuit answers each message with one slot.send(), possibly empty"


class CircuitError(SanlabError):
    """Failure of a circuit in Python, with its name."""


@dataclass(frozen=True)
class Header:
    """Header of a message as the pins of a slot show it: arguments, and the payload of `size` bytes."""

    arguments: tuple[int, int, int, int]
    payload: bytes

    @property
    def size(self) -> int:
        """Length of the payload in bytes."""
        return len(self.payload)


class Port(Protocol):
    """Connection of a slot to its card."""

    def receive(self) -> Awaitable[Header]:
        """Accept the words of the next message."""

    def send(self, data: bytes) -> None:
        """Offer the words of the result."""

    def clocks(self, count: int) -> None:
        """Let user clocks pass."""

    def read(self, word: int, count: int) -> Awaitable[bytes]:
        """Read words of the slot's part of bank 3."""

    def write(self, word: int, data: bytes) -> None:
        """Write words of the slot's part of bank 3."""


class Slot:
    """Slot of the FPGA card, as a circuit in Python uses it."""

    def __init__(self, name: str, port: Port, most: int = MOST_BYTES) -> None:
        """Connect a slot to its card.

        Args:
            name: Circuit and place, for messages.
            port: Connection to the card.
            most: Largest result in bytes.
        """
        self._name, self._port, self._most = name, port, most
        self._messages = 0
        self._open = False
        """True between a message and its result."""
        self._charged = 0

    async def receive(self) -> tuple[Header, Words]:
        """Wait for a message and return its header and the words of its payload; unused bytes of the last word are 0.

        Words move one a user clock. Raises CircuitError if the previous message has no result.
        """
        if self._open:
            raise self._error(f"asks for the next message without a result of message {self._messages}", NOT_ANSWERED)
        self._charged = 0
        header = await self._port.receive()
        self._messages += 1
        self._open = True
        self._charged = 0
        return header, np.frombuffer(header.payload + bytes(-header.size % 4), "<u4")

    async def send(self, data: bytes | bytearray | memoryview | Words | Sequence[int] = b"") -> None:
        """Send the result of the message. Words move one a user clock.

        Args:
            data: Bytes, an array of any type (its bytes), or words as integers.

        Raises:
            CircuitError: No message, a second result, invalid data, or a result that is too long.
        """
        result = self._bytes(data)
        if not self._open:
            second = f"sends a second result of message {self._messages}"
            raise self._error(second if self._messages else "sends without a message", NOT_ANSWERED)
        if len(result) > self._most:
            cause = f"sends {len(result)} bytes for message {self._messages}"
            raise self._error(cause, f"a result has at most {self._most} bytes here")
        self._open = False
        self._charged = 0
        self._port.send(result)

    async def clocks(self, count: int) -> None:
        """Charge user clocks: the next order of the circuit begins so much later.

        Raises CircuitError for a negative number, or if the circuit seems to charge clocks without end.
        """
        try:
            number = index(count)
        except TypeError:
            number = -1
        if number < 0:
            raise self._error(f"charges {count!r} clocks", "give a whole number, 0 or more")
        self._charged += number + 1
        if self._charged > MOST_CLOCKS:
            what = f"has no result of message {self._messages}" if self._open else "does not ask for a message"
            raise self._error(f"{what} after {MOST_CLOCKS} clocks", "end its loop of slot.clocks()")
        if number:
            self._port.clocks(number)

    async def read(self, word: int, count: int = 1) -> Words:
        """Return words of the slot's part of bank 3, two user clocks each.

        Args:
            word: First word, from 0.
            count: Number of words.

        Raises:
            CircuitError: A place outside the slot's part, or no message between its reception and its result.
        """
        self._access(word, count)
        return np.frombuffer(await self._port.read(int(word), int(count)), "<u4") if count else np.zeros(0, np.uint32)

    async def write(self, word: int, data: bytes | bytearray | memoryview | Words | Sequence[int]) -> None:
        """Write words of the slot's part of bank 3, one a user clock.

        Args:
            word: First word, from 0.
            data: Whole words, as for `send`.

        Raises:
            CircuitError: A place outside the slot's part, or no message between its reception and its result.
        """
        words = self._bytes(data)
        if len(words) % 4:
            raise self._error(f"writes {len(words)} bytes to the bank", "give a multiple of 4")
        self._access(word, len(words) // 4)
        if words:
            self._port.write(int(word), words)

    def _access(self, word: int, count: int) -> None:
        if not self._open:
            remedy = "use it after slot.receive() and before slot.send()"
            raise self._error("uses the bank without a message", remedy)
        if not 0 <= word <= word + count <= SLOT_WORDS:
            used = f"uses words {word} to {word + count - 1} of the bank"
            raise self._error(used, f"use words 0 to {SLOT_WORDS - 1}")

    def _bytes(self, data: Any) -> bytes:
        try:
            return np.asarray(data, "<u4").tobytes() if isinstance(data, (list, tuple)) else memoryview(data).tobytes()
        except (TypeError, ValueError, OverflowError) as error:
            cause = f"sends or writes {type(data).__name__}: {error}"
            raise self._error(cause, "give bytes, an array, or words from 0 to 0xffffffff") from None

    def _error(self, cause: str, remedy: str) -> CircuitError:
        return CircuitError(self._name, f"{cause} ({_place()})", remedy)


Function = Callable[[Slot], Coroutine[Any, Any, None]]
"""Circuit in Python."""


def _place() -> str:
    """Return file and line of the circuit that called the slot."""
    here = Path(__file__).name
    outside = [one for one in traceback.extract_stack() if Path(one.filename).name != here]
    return f"{Path(outside[-1].filename).name}:{outside[-1].lineno}"


class Running:
    """Circuit in Python that runs in a slot. Awaiting it runs the circuit, and raises CircuitError when it fails."""

    def __init__(self, name: str, circuit: Function, slot: Slot, waits: Callable[[Any], bool]) -> None:
        """Prepare a circuit.

        Args:
            name: Circuit and place, for messages.
            circuit: The coroutine function.
            slot: Its slot.
            waits: Function that returns True for what the verbs of the slot await.
        """
        self._name, self._circuit, self._slot, self._waits = name, circuit, slot, waits

    def __await__(self) -> Generator[Any, None, None]:
        coroutine = self._circuit(self._slot)
        try:
            while True:
                awaited = coroutine.send(None)
                if not self._waits(awaited):
                    cause = f"awaits {type(awaited).__name__}, which never answers"
                    raise CircuitError(self._name, cause, "await the verbs of its slot only")
                yield awaited
        except StopIteration:
            remedy = "loop for ever: while True: header, words = await slot.receive()"
            raise CircuitError(self._name, "has returned, so that no message is answered any more", remedy) from None
        except CircuitError:
            raise
        except (GeneratorExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if not isinstance(error, Exception):  # a limit of the run
                error.args = (f"{self._name}: {error}",)
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            cause = f"raised {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
            raise CircuitError(self._name, cause, "correct the circuit") from error
        finally:
            coroutine.close()
