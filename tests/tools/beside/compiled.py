"""The paths of a layer as a library of this machine, and the memory on which they run.

Pointers and words are both 32 bits on a NIC, and the C may make one of the other. So all memory that the paths see
stands below 4 GB: first an image of the NIC's memory, then what is the firmware's own.
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
    """An address in the NIC's memory: the C gets the place of the image."""


class Memory:
    """An image of a NIC's memory, and room behind it."""

    def __init__(self, sram_bytes: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | BELOW_4_GB
        self._map = mmap.mmap(-1, sram_bytes + OWN_BYTES, flags=flags)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.sram_bytes = sram_bytes
        self._end = self.base + sram_bytes

    def clear(self) -> None:
        """Nothing is the firmware's own."""
        ctypes.memset(self.base + self.sram_bytes, 0, OWN_BYTES)
        self._end = self.base + self.sram_bytes

    def take(self, size: int) -> int:
        """Room of the firmware's own."""
        at = self._end
        self._end = at + size + 15 & ~15
        if self._end > self.base + self.sram_bytes + OWN_BYTES:
            raise MemoryError("the state of a firmware is larger than expected")
        return at

    def address(self, value: int) -> int:
        """A word in which the C may have put the place of something in NIC memory."""
        offset = value - self.base
        return offset if 0 <= offset < self.sram_bytes else value


class Image:
    """A NIC's memory as the C has it: the words that the NIC has, but for those that the C has stored."""

    def __init__(self, sram: Any) -> None:
        self._sram = sram
        self.memory = Memory(sram.size)
        self._words = np.frombuffer((ctypes.c_char * sram.size).from_address(self.memory.base), np.uint32)
        self._words[:] = np.frombuffer(sram.data, ">u4")
        self._shadow = self._words.copy()
        self.changed: set[int] = set()
        """Addresses that others have stored to."""
        self.own: set[int] = set()
        """Addresses that the C has."""
        self._puts: set[int] = set()
        """Addresses that mean something to the C alone."""
        self.before: dict[int, int] = {}
        """What stood there."""

    def clear(self) -> None:
        """A step begins: the C has nothing of its own."""
        self.memory.clear()
        for address in self.changed | self.own | self.before.keys():
            self._words[address // 4] = self._shadow[address // 4] = self._sram.load(address)
        self.changed, self.own, self.before, self._puts = set(), set(), {}, set()

    def put(self, address: int, value: int) -> None:
        """A word that only the C has there."""
        self.before[address] = value
        self._puts.add(address)
        self._words[address // 4] = self._shadow[address // 4] = value

    def refresh(self, stored: Container[int], packet: range) -> None:
        """What others than the firmware have stored since, but for what comes where a packet is being read."""
        for address in self.changed:
            if address in packet or address in self._puts:
                self.before.setdefault(address, int(self._shadow[address // 4]))
            elif address not in stored and address not in self.own:
                self._words[address // 4] = self._shadow[address // 4] = self._sram.load(address)
            elif address not in self.before:
                self.before[address] = int(self._shadow[address // 4])
        self.changed = set()

    def ran(self) -> None:
        """The C has run: which words are its own."""
        for place in np.flatnonzero(self._words != self._shadow):
            address = 4 * int(place)
            self.before.setdefault(address, int(self._shadow[place]))
            self.own.add(address)
            self._shadow[place] = self._words[place]

    def says(self, address: int, value: int) -> bool:
        """Whether the C has a value there: as it is, or as a place in NIC memory."""
        return value in (int(self._words[address // 4]), self.told(address))

    def told(self, address: int) -> int:
        """A word as the C has it."""
        return self.memory.address(int(self._words[address // 4]))


class Compiled:
    """A layer's `paths.c`, or a copy of it, as a library."""

    def __init__(self, sources: Path, folder: Path) -> None:
        """`sources`: the layer's folder; `folder`: where the library is put."""
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
        """Why a path was left; and what it gives back. `reads`: what special registers say."""
        self._offs.value = 0
        self._names = [name.encode() for name in reads]
        for one, name, value in zip(self._read, self._names, reads.values(), strict=False):
            one.name = ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p).value
            one.value = value
        self._reads.value = len(reads)
        result = self._library[path](*arguments)
        return [str(why, "ascii") for why in self._off[: self._offs.value] if why], int(result or 0)

    def written(self) -> list[tuple[str, int]]:
        """Special registers that were written since this was asked last."""
        count, self._writes.value = self._writes.value, 0
        return [(ctypes.string_at(one.name).decode(), one.value) for one in self._written[:count]]

    def fields(self, of: Type) -> Mapping[str, Type]:
        """Of a structure."""
        return self.declared.fields[of.base]

    def struct(self, name: str) -> Any:
        """A structure's class."""
        return self.declared.structs[name]
