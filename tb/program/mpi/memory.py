"""Memory of a program, accessed through its socket while it waits for the result of a call.

Written data are sent with the next answer. README.md describes the frames.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi.calls import Address

REQUEST, REPLY = b"q", b"a"


class NullAddress(Misuse):
    """NULL in place of an address; an error of MPI_COMM_WORLD for any communicator of the call."""


class Exchange(Protocol):
    """Connection to a program."""

    def answer(self, data: bytes) -> None:
        """Send an answer, with which the program continues."""

    def exchange(self, data: bytes) -> bytes:
        """Send an answer and return the program's next message."""


class Memory:
    """Memory of a program."""

    def __init__(self, program: Exchange) -> None:
        self._program = program
        self._puts = bytearray()
        self.along: tuple[int, bytes] = (0, b"")
        """Address and bytes sent with the present call."""
        self.within: Callable[[bytes], bytes]
        """Function that answers a call made by an operator of the program, for which no time passes."""

    def put(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Write bytes. Raises Misuse for NULL."""
        if len(data):
            _check(address)
            self._puts += struct.pack("<cQQ", b"p", address, len(data))
            self._puts += data

    def put_ints(self, address: int, *numbers: int) -> None:
        """Write 32-bit numbers; handles may exceed an int."""
        self.put(address, struct.pack(f"<{len(numbers)}I", *(number & 0xFFFFFFFF for number in numbers)))

    def put_longs(self, address: int, *numbers: int) -> None:
        """Write 64-bit numbers."""
        self.put(address, struct.pack(f"<{len(numbers)}q", *numbers))

    def put_text(self, address: int, length: int, text: str, most: int) -> None:
        """Write a string of at most `most` bytes including its terminator, and its length."""
        data = text.encode()[: most - 1]
        self.put(address, data + b"\0")
        self.put_ints(length, len(data))

    def get(self, address: int, size: int) -> bytes:
        """Read bytes. Raises Misuse for NULL."""
        if size:
            _check(address)
        known, data = self.along
        if known <= address and address + size <= known + len(data):
            return data[address - known :][:size]
        return self.exchange(struct.pack("<cQQ", b"g", address, size)) if size else b""

    def gather(self, address: int, pieces: NDArray[np.int64]) -> bytes:
        """Read pieces of memory, given as offsets to the address and lengths, and return them joined."""
        if len(pieces) < 2:
            return b"".join(self.get(address + at, length) for at, length in pieces.tolist())
        known, data = self.along
        low, high = int(pieces[:, 0].min()) + address, int(pieces.sum(axis=1).max()) + address
        if known <= low and high <= known + len(data):
            return b"".join(data[address + at - known :][:length] for at, length in pieces.tolist())
        return self.exchange(struct.pack("<cQ", b"G", len(pieces)) + _placed(address, pieces))

    def scatter(self, address: int, pieces: NDArray[np.int64], data: bytes | bytearray) -> None:
        """Write bytes to pieces of memory until the bytes are used up."""
        ends = pieces[:, 1].cumsum()
        used = pieces[: int(np.searchsorted(ends, len(data))) + 1].copy()
        if not len(used) or not data:
            return
        used[-1, 1] -= max(int(ends[len(used) - 1]) - len(data), 0)
        if len(used) == 1:
            self.put(address + int(used[0, 0]), data[: used[0, 1]])
            return
        self._puts += struct.pack("<cQ", b"P", len(used)) + _placed(address, used) + data

    def ints(self, address: int, count: int) -> list[int]:
        """Read 32-bit numbers."""
        return list(struct.unpack(f"<{count}i", self.get(address, 4 * count)))

    def handles(self, address: int, count: int) -> list[int]:
        """Read handles."""
        return list(struct.unpack(f"<{count}I", self.get(address, 4 * count)))

    def longs(self, address: int, count: int) -> list[int]:
        """Read 64-bit numbers."""
        return list(struct.unpack(f"<{count}q", self.get(address, 8 * count)))

    def text(self, address: Address) -> str:
        """Read a string. Raises Misuse for NULL."""
        _check(address)
        return self.exchange(struct.pack("<cQ", b"s", address)).decode(errors="replace")

    def call(self, function: int, arguments: Sequence[int]) -> bytes:
        """Return the frame that makes the program call one of its functions with up to eight arguments."""
        words = [*arguments, *[0] * (8 - len(arguments))]
        return self._with_puts(struct.pack("<c9Q", b"c", function, *(word & (1 << 64) - 1 for word in words)))

    def fold(self, function: int, count: int, datatype: int, start: int, left: bytes, right: bytes) -> bytes:
        """Return the result of an operator of the program on two arrays.

        Args:
            function: Address of the operator's function.
            count: Number of elements.
            datatype: Handle of the datatype.
            start: Offset of the arrays' first byte to the addresses that the operator gets.
            left: Bytes of the first array.
            right: Bytes of the second array.
        """
        head = struct.pack("<cQqqqQ", b"f", function, count, datatype, start, len(left))
        return self.exchange(head + left + right)

    def exchange(self, action: bytes) -> bytes:
        """Send a frame and return the program's reply."""
        data = self._program.exchange(self._with_puts(action))
        while data[:1] != REPLY:
            data = self._program.exchange(self.within(data))
        return data[1:]

    def keep(self, number: int, handle: int, value: int) -> None:
        """Let the program's library cache the result of a call (by its number in the table) for a handle,
        until `forget`.
        """
        self._puts += struct.pack("<cqqq", b"k", number, handle - ((handle & 1 << 31) << 1), value)

    def forget(self) -> None:
        """Clear the library's cached results."""
        self._puts += b"n"

    def result(self, value: int, now_ps: int) -> None:
        """End a call with its result and the present time."""
        self._program.answer(self.returned(value, now_ps))

    def returned(self, value: int, now_ps: int) -> bytes:
        """Return the frame that ends a call."""
        return self._with_puts(struct.pack("<cqq", b"r", value, now_ps))

    def _with_puts(self, action: bytes) -> bytes:
        data, self._puts = bytes(self._puts) + action, bytearray()
        return data


def _check(address: int) -> None:
    if not address:
        raise NullAddress(ErrorClass.ARG, "an argument is NULL", "give an address")


def _placed(address: int, pieces: NDArray[np.int64]) -> bytes:
    """Return address and length of each piece as words of a frame."""
    words: NDArray[np.int64] = (pieces + np.array([address, 0])).astype("<i8")
    return words.tobytes()
