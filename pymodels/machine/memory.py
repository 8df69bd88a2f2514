"""Byte memory with big-endian words, bounds checks, access counters, and notification of polling loops."""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

_WORD = struct.Struct(">I")


class MachineError(RuntimeError):
    """Access that the hardware does not support or that is an error of the software."""


class Watcher(Protocol):
    """Polling loop on words of a memory (`pymodels.machine.spin.Spin`)."""

    def memory_changed(self, address: int, size: int) -> None:
        """Handle a write of bytes."""

    def registers_changed(self) -> None:
        """Handle a change of a special register."""

    def stop(self) -> None:
        """Handle a stop of the processor."""


class Memory:
    """Memory of `size` bytes from address 0. `accesses` counts 64-bit accesses by name of the requester."""

    __slots__ = ("accesses", "data", "name", "size", "spins")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        # Zeroed and sparse: a page costs nothing until it is written. A forked process has its own copy.
        self.data = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.accesses: Counter[str] = Counter()
        self.spins: list[Watcher] = []

    def check(self, address: int, size: int) -> None:
        """Raise MachineError if a range is not inside the memory."""
        if address < 0 or address + size > self.size:
            raise MachineError(
                f"{self.name}: bytes {address:#x} .. {address + size:#x} are outside its {self.size:#x} bytes"
            )

    def load(self, address: int) -> int:
        """Return the big-endian word at an address."""
        if address & 3:
            raise MachineError(f"{self.name}: word address {address:#x} is not a multiple of 4")
        if address < 0 or address + 4 > self.size:
            self.check(address, 4)
        return _WORD.unpack_from(self.data, address)[0]  # type: ignore[no-any-return]

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return `count` consecutive words."""
        self.check(address, 4 * count)
        return struct.unpack_from(f">{count}I", self.data, address)

    def store(self, address: int, value: int) -> None:
        """Store one big-endian word and notify polling loops."""
        if address & 3:
            raise MachineError(f"{self.name}: word address {address:#x} is not a multiple of 4")
        if address < 0 or address + 4 > self.size:
            self.check(address, 4)
        _WORD.pack_into(self.data, address, value)
        if self.spins:
            self._notify(address, 4)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store consecutive words."""
        self.write(address, struct.pack(f">{len(words)}I", *words))

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes."""
        self.check(address, size)
        return self.data[address : address + size]

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes and notify polling loops."""
        end = address + len(data)
        if address < 0 or end > self.size:
            self.check(address, len(data))
        self.data[address:end] = data
        if self.spins:
            self._notify(address, len(data))

    def count(self, who: str, address: int, size: int) -> None:
        """Count the 64-bit accesses of a transfer of `size` bytes at `address`."""
        if size:
            self.accesses[who] += ((address + size - 1) >> 3) - (address >> 3) + 1

    def _notify(self, address: int, size: int) -> None:
        for spin in tuple(self.spins):
            spin.memory_changed(address, size)


class BusMemory(Memory):
    """Memory as written over its bus: `check_write(address, size)` raises an error for a write that is not allowed."""

    __slots__ = ("_check_write",)

    def __init__(self, memory: Memory, check_write: Callable[[int, int], None]) -> None:
        self.name, self.size, self.data = memory.name, memory.size, memory.data
        self.accesses, self.spins = memory.accesses, memory.spins
        self._check_write = check_write

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes after the check."""
        self._check_write(address, len(data))
        super().write(address, data)
