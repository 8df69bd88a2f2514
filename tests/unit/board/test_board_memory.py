"""Host memory of a board: stores of software and of the NIC meet without either being lost."""

from __future__ import annotations

import pytest

from tb.board.memory import BoardMemory


class Ram:
    """Memory on a board, with a count of the transferred bytes."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(b"\xee" * size)
        self.moved = 0

    def load(self, address: int, size: int) -> bytes:
        self.moved += size
        return bytes(self.data[address : address + size])

    def store(self, address: int, data: bytes) -> None:
        self.moved += len(data)
        self.data[address : address + len(data)] = data


@pytest.fixture(name="ram")
def fixture_ram() -> Ram:
    return Ram(0x4000)


@pytest.fixture(name="memory")
def fixture_memory(ram: Ram) -> BoardMemory:
    return BoardMemory("paris", ram, 0x4000)


def test_allocated_memory_is_zero_on_the_board_although_a_run_has_left_data_there(
    ram: Ram, memory: BoardMemory
) -> None:
    address = memory.allocate(100, 64)
    assert not any(ram.data[address : address + 100])


def test_no_memory_is_left_beyond_that_of_the_board(memory: BoardMemory) -> None:
    memory.allocate(0x2000, 4096)
    with pytest.raises(MemoryError, match="paris: 8192 bytes requested, 4096 left of 16384 on the board"):
        memory.allocate(0x2000, 4096)


def test_only_changes_in_views_are_sent(ram: Ram, memory: BoardMemory) -> None:
    address = memory.allocate(0x1000, 64)
    ram.moved = 0
    memory.data[address + 5] = 1
    memory.data[address + 0x800] = 2
    memory.flush()
    assert (ram.data[address + 5], ram.data[address + 0x800]) == (1, 2)
    assert ram.moved == 8


def test_stores_of_the_nic_between_two_changes_in_views_are_kept(ram: Ram, memory: BoardMemory) -> None:
    address = memory.allocate(64, 64)
    memory.data[address : address + 4] = memory.data[address + 8 : address + 12] = b"soft"
    ram.data[address + 4 : address + 8] = b"hard"
    memory.flush()
    assert ram.data[address : address + 12] == b"softhardsoft"


def test_a_fetch_brings_stores_of_the_nic_and_keeps_those_of_software(ram: Ram, memory: BoardMemory) -> None:
    address = memory.allocate(64, 64)
    memory.data[address : address + 4] = b"soft"
    ram.data[address + 4 : address + 8] = b"hard"
    memory.fetch(address, 8)
    assert memory.data[address : address + 8] == b"softhard"
    assert ram.data[address : address + 8] == b"softhard"


def test_a_store_of_parts_of_words_keeps_the_bytes_of_the_nic_beside_it(ram: Ram, memory: BoardMemory) -> None:
    address = memory.allocate(64, 64)
    ram.data[address : address + 8] = b"hardhard"
    memory.store(address + 3, b"SOFT"[:2])
    assert ram.data[address : address + 8] == b"harSOard"


def test_an_access_beyond_the_memory_is_an_error(memory: BoardMemory) -> None:
    with pytest.raises(IndexError, match=r"paris: 8 bytes at 0x3ffc are beyond its 16384 bytes"):
        memory.fetch(0x3FFC, 8)
