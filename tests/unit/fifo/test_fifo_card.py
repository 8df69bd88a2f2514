"""Register map, cells and model of the FIFO card, without a simulator.

Strategy: the HDL package is generated again and compared with the committed file. Address overlaps, which the generator
cannot detect, are checked. Cells are compared with the standard's examples. Each statement of the paper about buffers,
pool and cells is one test of the model.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pymodels.nics.fifo import registers
from pymodels.nics.fifo.cells import Cell, hec
from pymodels.nics.fifo.model import FifoModel
from pymodels.nics.fifo.registers import Error, Form, Ready, Region, Size, State, circuit, circuit_of, descriptor


def test_the_committed_package_is_what_the_map_generates() -> None:
    assert registers.PACKAGE.read_text(encoding="utf-8") == registers.package_text(), (
        "run `python -m pymodels.nics.fifo.registers --sv`"
    )


def test_register_addresses_are_aligned_and_distinct() -> None:
    offsets = [int(region) for region in Region]
    assert all(offset % 8 == 0 for offset in offsets)
    assert len(set(offsets)) == len(Region.__members__)


def test_cell_fifos_and_circuits_do_not_overlap_in_memory() -> None:
    assert Size.CIRCUITS * Size.CIRCUIT <= Size.OUT_BASE
    assert Size.OUT_BASE + Size.OUT_CELLS * Size.SLOT <= Size.IN_BASE
    assert Size.IN_BASE + Size.IN_CELLS * Size.SLOT <= Size.MEMORY
    assert Size.BUFFERS * Size.DESCRIPTOR <= Size.BUFFER, "the table stands in the place of buffer 0"
    assert Size.OUT_BASE % (Size.OUT_CELLS * Size.SLOT) == Size.IN_BASE % (Size.IN_CELLS * Size.SLOT) == 0


def test_a_value_too_large_for_its_field_is_rejected() -> None:
    assert descriptor(State.READY, 2048, 7, 3) == 0x13070800
    assert circuit(b"\x81\x82") == b"\x02\0\0\0\0\0\x81\x82"
    with pytest.raises(ValueError, match="4096 bytes"):
        descriptor(State.READY, 4096)
    with pytest.raises(ValueError, match="8 bytes skipped"):
        descriptor(State.READY, 1, 8)
    with pytest.raises(ValueError, match="a route of 8 bytes"):
        circuit(bytes(8))


def test_the_header_check_matches_the_cells_of_the_atm_standard() -> None:
    """Idle and unassigned cells (ITU-T I.432)."""
    assert (hec(0x00000001), hec(0x00000000)) == (0x52, 0x55)


@given(header=some.integers(0, 2**32 - 1), bit=some.integers(0, 39))
def test_a_cell_with_a_flipped_header_bit_is_rejected(header: int, bit: int) -> None:
    wire = Cell(header, bytes(Size.PAYLOAD)).wire
    assert len(wire) == Size.CELL and Cell.read(wire) == Cell(header, bytes(Size.PAYLOAD))
    flipped = bytearray(wire)
    flipped[bit // 8] ^= 1 << bit % 8
    assert Cell.read(bytes(flipped)) is None


def test_a_buffer_is_sent_once_and_its_state_becomes_sent() -> None:
    card = FifoModel()
    card.store(Size.BUFFER * 3 + 2, b"\x81hello")
    card.store(Size.DESCRIPTOR * 3, descriptor(State.READY, 6, skip=2, own=5).to_bytes(4, "big"))
    card.transmit(3)
    card.transmit(3)
    assert card.sent == [b"\x81hello"] and card.errors == {Error.DESCRIPTOR}
    assert int.from_bytes(card.memory[24:28], "big") == descriptor(State.SENT, 6, skip=2, own=5)


@pytest.mark.parametrize("size", [100, 256, 0xFFF])
def test_a_buffer_is_sent_with_the_size_of_its_descriptor_unless_it_is_too_large(size: int) -> None:
    card = FifoModel()
    data = bytes(index & 0xFF for index in range(2048))
    card.store(Size.BUFFER * 3, data)
    card.store(Size.DESCRIPTOR * 3, descriptor(State.READY, size).to_bytes(4, "big"))
    card.transmit(3)
    assert card.sent == ([data[:size]] if size <= Size.BUFFER else [])
    assert card.errors == (set() if size <= Size.BUFFER else {Error.DESCRIPTOR})


def test_a_pool_of_24_buffers_holds_all_packets_that_three_partners_may_have_outstanding() -> None:
    """Paper 002: 3 partners, 4 requests and 4 replies each; the 25th packet waits."""
    card = FifoModel()
    for number in range(1, 25):
        card.free(number)
    for number in range(25):
        card.arrive(bytes([number]))
    assert len(card.ready) == 24 and len(card.waiting) == 1
    card.next_packet()
    assert len(card.waiting) == 1, "done with, but not given back"
    card.free(1)
    assert len(card.ready) == 24 and not card.waiting


def test_the_ready_word_holds_buffer_size_and_errors_of_a_packet() -> None:
    card = FifoModel()
    for number in (9, 4):
        card.free(number)
    card.arrive(bytes(2049), good_crc=False)
    card.arrive(b"12")
    (first, body), (second, _) = card.ready
    assert first == 1 << Ready.VALID | 1 << Ready.BAD_CRC | 1 << Ready.LONG | 9 << Ready.NUMBER | 2048
    assert len(body) == 2048 and second == 1 << Ready.VALID | 4 << Ready.NUMBER | 2


def test_a_cell_is_sent_with_the_route_of_its_circuit() -> None:
    card = FifoModel(Form.CELLS)
    cell = Cell(7 << 4, bytes(range(48)))
    card.store(Size.CIRCUIT * circuit_of(cell.header), circuit(b"\x85\x81"))
    card.send_cell(cell)
    assert card.sent == [b"\x85\x81\0\0\0\x70" + bytes([hec(0x70)]) + bytes(range(48))]


def test_invalid_cells_are_counted_and_not_stored() -> None:
    card = FifoModel(Form.CELLS)
    good = Cell(5, bytes(48))
    for wire, crc in ((good.wire, False), (good.wire[:-1], True), (b"\1" + good.wire[1:], True), (good.wire, True)):
        card.arrive(wire, crc)
    assert list(card.cells) == [good] and card.dropped == 3


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert registers.main([]) == 0
    assert capsys.readouterr().out == registers.package_text()
