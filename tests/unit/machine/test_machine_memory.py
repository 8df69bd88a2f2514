"""Bounds of the machine's memories.

Strategy: bytes and words at the very end are written and read back by each access function. Accesses beyond the end or
before the beginning are rejected with their address.
"""

from __future__ import annotations

import pytest

from pymodels.machine import MachineError
from pymodels.machine.memory import Memory


@pytest.mark.parametrize("size", [1, 4, 12])
def test_the_last_bytes_can_be_read_and_written_and_none_behind_them(size: int) -> None:
    memory = Memory("SRAM", 64)
    last, data = 64 - size, bytes(range(1, size + 1))
    memory.write(last, data)
    assert memory.read(last, size) == data
    message = rf"SRAM: bytes {last + 1:#x} \.\. 0x41 are outside its 0x40 bytes"
    with pytest.raises(MachineError, match=message):
        memory.write(last + 1, data)
    with pytest.raises(MachineError, match=message):
        memory.read(last + 1, size)
    assert memory.read(0, 64) == bytes(last) + data


def test_the_last_words_can_be_loaded_and_stored_and_none_behind_them() -> None:
    memory = Memory("SRAM", 64)
    memory.store_words(56, (7, 8))
    memory.store(60, 9)
    assert (memory.load(60), memory.load_words(56, 2)) == (9, (7, 9))
    for at in (-4, 64):
        with pytest.raises(MachineError, match="outside its 0x40 bytes"):
            memory.load(at)
        with pytest.raises(MachineError, match="outside its 0x40 bytes"):
            memory.store(at, 1)
    with pytest.raises(MachineError, match="outside its 0x40 bytes"):
        memory.load_words(60, 2)
    with pytest.raises(MachineError, match="outside its 0x40 bytes"):
        memory.store_words(60, (1, 2))
    assert memory.read(0, 64) == bytes(59) + b"\7" + bytes(3) + b"\t"
