"""Paths of a layer compiled as a library for the local machine, and the memory on which they run.

Pointers and words both have 32 bits on a NIC, and the C may convert one to the other. All memory that the paths see is
therefore below 4 GB: first an image of the NIC's memory, then the firmware's own memory.
"""

from __future__ import annotations

import ctypes
import mmap
import re
import subprocess
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymodels.costs.sources import FIRMWARE
from tb.tools.programs import CC
from tests.tools.beside.declarations import Declarations, Type

HERE = Path(__file__).parent
BELOW_4_GB = 0x40
"""Flag of mmap on Linux: MAP_32BIT."""
OWN_BYTES = 1 << 22


class Sram(int):
    """Address in the NIC's memory; the C gets its address in the image."""


class Memory:
    """Image of a NIC's memory, followed by further room."""

    def __init__(self, sram_bytes: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | BELOW_4_GB
        self._map = mmap.mmap(-1, sram_bytes + OWN_BYTES, flags=flags)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.sram_bytes = sram_bytes
        self._end = self.base + sram_bytes

    def clear(self) -> None:
        """Free all of the firmware's own memory."""
        ctypes.memset(self.base + self.sram_bytes, 0, OWN_BYTES)
        self._end = self.base + self.sram_bytes

    def take(self, size: int) -> int:
        """Allocate memory of the firmware's own."""
        at = self._end
        self._end = at + size + 15 & ~15
        if self._end > self.base + self.sram_bytes + OWN_BYTES:
            raise MemoryError("the state of a firmware is larger than expected")
        return at

    def address(self, value: int) -> int:
        """Return a word that may be a C pointer into NIC memory as a NIC address."""
        offset = value - self.base
        return offset if 0 <= offset < self.sram_bytes else value


class Image:
    """NIC memory read by the C: the NIC's words, except those that the C has stored."""

    def __init__(self, sram: Any) -> None:
        self._sram = sram
        self.memory = Memory(sram.size)
        self._words = np.frombuffer((ctypes.c_char * sram.size).from_address(self.memory.base), np.uint32)
        self._words[:] = np.frombuffer(sram.data, ">u4")
        self._shadow = self._words.copy()
        self.changed: set[int] = set()
        """Addresses that other writers have stored to."""
        self.own: set[int] = set()
        """Addresses that the C has stored to."""
        self._puts: set[int] = set()
        """Addresses of words that only the C uses."""
        self.before: dict[int, int] = {}
        """Previous content."""

    def clear(self) -> None:
        """Begin a step: discard the words that the C has stored."""
        self.memory.clear()
        for address in self.changed | self.own | self.before.keys():
            self._words[address // 4] = self._shadow[address // 4] = self._sram.load(address)
        self.changed, self.own, self.before, self._puts = set(), set(), {}, set()

    def put(self, address: int, value: int) -> None:
        """Store a word that only the C uses."""
        self.before[address] = value
        self._puts.add(address)
        self._words[address // 4] = self._shadow[address // 4] = value

    def refresh(self, stored: Container[int], packet: range) -> None:
        """Copy words stored by others than the firmware, except where a packet is being read."""
        for address in self.changed:
            if address in packet or address in self._puts:
                self.before.setdefault(address, int(self._shadow[address // 4]))
            elif address not in stored and address not in self.own:
                self._words[address // 4] = self._shadow[address // 4] = self._sram.load(address)
            elif address not in self.before:
                self.before[address] = int(self._shadow[address // 4])
        self.changed = set()

    def ran(self) -> None:
        """Determine the words that the C has stored in its run."""
        for place in np.flatnonzero(self._words != self._shadow):
            address = 4 * int(place)
            self.before.setdefault(address, int(self._shadow[place]))
            self.own.add(address)
            self._shadow[place] = self._words[place]

    def has_value(self, address: int, value: int) -> bool:
        """Return True if the C has a value at an address, as it is or as a pointer into NIC memory."""
        return value in (int(self._words[address // 4]), self.nic_value(address))

    def nic_value(self, address: int) -> int:
        """Return a word of NIC memory that the C reads."""
        return self.memory.address(int(self._words[address // 4]))


class Compiled:
    """Layer's `paths.c`, or a copy of it, as a library."""

    def __init__(self, sources: Path, folder: Path) -> None:
        """Compile the layer's folder `sources` into a library in `folder`."""
        library = folder / f"{sources.name}.so"
        include = [f"-I{FIRMWARE}", f"-I{sources}", "-include", str(HERE / "together.h")]
        options = ["-std=gnu11", "-O1", "-w", *include, str(sources / "paths.c")]
        subprocess.run([CC, *options, "-shared", "-fPIC", "-o", str(library)], check=True)
        text = subprocess.run([CC, *options, "-E", "-P"], check=True, capture_output=True, encoding="utf-8").stdout
        text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
        self.declared = Declarations(text)
        self._library = ctypes.CDLL(str(library))
        structs = self.declared.structs
        self._off = (ctypes.c_char_p * 8).in_dll(self._library, "together_off")
        self._offs = ctypes.c_uint32.in_dll(self._library, "together_offs")
        self._writes = ctypes.c_uint32.in_dll(self._library, "together_writes")
        self._written = (structs["register_access"] * 64).in_dll(self._library, "together_written")
        self._reads = ctypes.c_uint32.in_dll(self._library, "together_reads")
        self._read = (structs["register_access"] * 16).in_dll(self._library, "together_read")
        for path, (result, given) in self.declared.paths.items():
            function = self._library[path]
            function.restype = result.c
            function.argtypes = [one.c for one in given]

    def run(self, path: str, arguments: Sequence[int], reads: Mapping[str, int]) -> tuple[list[str], int]:
        """Run a path; return the reasons for leaving it, and its result. `reads`: values of special registers."""
        self._offs.value = 0
        self._names = [name.encode() for name in reads]
        for one, name, value in zip(self._read, self._names, reads.values(), strict=False):
            one.name = ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p).value
            one.value = value
        self._reads.value = len(reads)
        result = self._library[path](*arguments)
        return [str(why, "ascii") for why in self._off[: self._offs.value] if why], int(result or 0)

    def written(self) -> list[tuple[str, int]]:
        """Return the special registers written since the last call."""
        count, self._writes.value = self._writes.value, 0
        return [(ctypes.string_at(one.name).decode(), one.value) for one in self._written[:count]]

    def fields(self, of: Type) -> Mapping[str, Type]:
        """Return the fields of a structure."""
        return self.declared.fields[of.base]

    def struct(self, name: str) -> Any:
        """Return the ctypes class of a structure."""
        return self.declared.structs[name]
