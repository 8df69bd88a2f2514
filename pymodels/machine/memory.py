"""Byte memory with big-endian words, bounds, access counters, and the polling loops that watch it."""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

_WORD = struct.Struct(">I")


class MachineError(RuntimeError):
    """Software asked the hardware for what it cannot or must not do. The message says who, where, what."""


class Watcher(Protocol):
    """A polling loop that looks at words of a memory (`pymodels.machine.spin.Spin`)."""

    def memory_changed(self, address: int, size: int) -> None:
        """Bytes have been written."""

    def registers_changed(self) -> None:
        """A special register has changed."""

    def stop(self) -> None:
        """The processor stops."""


class Memory:
    """`size` bytes at addresses 0 .. size - 1. `accesses` counts 64-bit accesses by requester name."""

    __slots__ = ("accesses", "data", "name", "size", "spins")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        # Zero, and sparse: a page costs nothing until it is written. A process that forks has a copy of its own.
        self.data = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.accesses: Counter[str] = Counter()
        self.spins: list[Watcher] = []

    def check(self, address: int, size: int) -> None:
        """Raise MachineError when a range is not inside the memory."""
        if address < 0 or address + size > self.size:
            raise MachineError(
                f"{self.name}: bytes {address:#x} .. {address + size:#x} are outside its {self.size:#x} bytes"
            )

    def load(self, address: int) -> int:
        """The big-endian word at an address."""
        if address & 3:
            raise MachineError(f"{self.name}: word address {address:#x} is not a multiple of 4")
        if address < 0 or address + 4 > self.size:
            self.check(address, 4)
        return _WORD.unpack_from(self.data, address)[0]  # type: ignore[no-any-return]

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """`count` consecutive words."""
        self.check(address, 4 * count)
        return struct.unpack_from(f">{count}I", self.data, address)

    def store(self, address: int, value: int) -> None:
        """Store one big-endian word; watchers notice."""
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
        """`size` bytes."""
        self.check(address, size)
        return self.data[address : address + size]

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes; watchers notice."""
        end = address + len(data)
        if address < 0 or end > self.size:
            self.check(address, len(data))
        self.data[address:end] = data
        if self.spins:
            self._notify(address, len(data))

    def count(self, who: str, address: int, size: int) -> None:
        """Count the 64-bit accesses that a transfer of `size` bytes at `address` takes."""
        if size:
            self.accesses[who] += ((address + size - 1) >> 3) - (address >> 3) + 1

    def _notify(self, address: int, size: int) -> None:
        for spin in tuple(self.spins):
            spin.memory_changed(address, size)


class BusMemory(Memory):
    """A memory as its bus writes it: `check_write(address, size)` raises where it may not."""

    __slots__ = ("_check_write",)

    def __init__(self, memory: Memory, check_write: Callable[[int, int], None]) -> None:
        self.name, self.size, self.data = memory.name, memory.size, memory.data
        self.accesses, self.spins = memory.accesses, memory.spins
        self._check_write = check_write

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes, unless they may not be stored there."""
        self._check_write(address, len(data))
        super().write(address, data)
