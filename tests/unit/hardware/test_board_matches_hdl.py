"""Contract of a board: address map, serial protocol, ring records and identity.

Strategy: the committed package must equal the output of the map. Addresses are checked for overlap and alignment. The
bytes of commands are compared with those of LiteX's UARTBone, written out. Ring records and identities are encoded by
hand and decoded.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pymodels.board.bone import CHECK_COMMAND, MAX_WORDS, Checks, read_command, reply_words, write_command
from pymodels.board.identity import FIRST, WORDS, BoardIdentityError, Identity, Manifest
from pymodels.board.map import (
    COMPARATOR_BASE,
    COMPARATORS,
    MAX_NODES,
    PACKAGE,
    Clock,
    ComparatorRegister,
    ControlRegister,
    NodeRegister,
    Region,
    Top,
    address,
    comparator,
    control,
    package,
)
from pymodels.board.points import MODULE, module
from pymodels.board.ring import lost, records
from pymodels.trace import Part, TraceEvent, unit

IDENTITY = Identity(
    top=Top.PAIR,
    nodes=2,
    nic=4,
    core=True,
    sram_log2=16,
    memory_log2=16,
    ring_log2=10,
    comparators=COMPARATORS,
    hash="0123456789abcdef00112233deadbeef",
    bus_hz=25_000_000,
    nic_hz=33_333_333,
    link_hz=160_000_000,
    baud=1_000_000,
    timeout=2_500_000,
)


def test_the_committed_package_is_what_the_map_generates() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == package(), "run `python -m pymodels.board.map`"


def test_the_committed_trace_points_are_what_the_table_generates() -> None:
    assert MODULE.read_text(encoding="utf-8") == module(), "run `python -m pymodels.board.points`"


@pytest.mark.parametrize("registers", [ControlRegister, NodeRegister, ComparatorRegister])
def test_registers_of_a_board_are_aligned_and_distinct(registers: type[ControlRegister]) -> None:
    offsets = [int(register) for register in registers]
    assert all(offset % 4 == 0 for offset in offsets)
    assert len(set(offsets)) == len(registers.__members__)


def test_node_registers_end_before_the_comparators() -> None:
    assert max(NodeRegister) < COMPARATOR_BASE
    assert COMPARATORS * MAX_NODES <= 32, "WAIT_MASK has one bit for each"


def test_an_address_has_region_node_and_offset_in_their_bits() -> None:
    assert address(Region.MEMORY, 0x1234, 3) == 0x1300_1234
    assert control(ControlRegister.WAIT) == 0x4000_0078
    assert comparator(2, ComparatorRegister.MODE, 1) == 0x2100_014C


@pytest.mark.parametrize(("offset", "node"), [(1 << 24, 0), (-4, 0), (0, MAX_NODES), (0, -1)])
def test_an_address_outside_its_region_is_rejected(offset: int, node: int) -> None:
    with pytest.raises(ValueError, match="no such place"):
        address(Region.NIC, offset, node)


def test_commands_have_the_bytes_of_uartbone() -> None:
    assert write_command(0x4000_0034, [0xA1B2C3D4]) == bytes.fromhex("01 01 1000000d a1b2c3d4")
    assert read_command(0x3000_0020, 8) == bytes.fromhex("02 08 0c000008")
    assert reply_words(bytes.fromhex("53414e42 00000001")) == (0x53414E42, 1)


@pytest.mark.parametrize(("at", "count"), [(2, 1), (0, 0), (0, MAX_WORDS + 1)])
def test_a_command_that_the_protocol_cannot_express_is_rejected(at: int, count: int) -> None:
    with pytest.raises(ValueError, match="not a command"):
        read_command(at, count)


def test_checks_cover_the_reading_command_and_begin_with_its_reply() -> None:
    checks = Checks()
    for data in (b"\x01\x02\x03", CHECK_COMMAND):
        checks.send(data)
    checks.receive(b"abcd")
    assert checks.expected() == (zlib.crc32(b"\x01\x02\x03" + CHECK_COMMAND), zlib.crc32(b"abcd"))
    checks.send(CHECK_COMMAND)
    checks.receive(b"the reply")
    assert checks.expected() == (zlib.crc32(CHECK_COMMAND), zlib.crc32(b"the reply"))


def test_ring_records_become_trace_records_sorted_by_time() -> None:
    dma = unit(1, Part.HOST_DMA)
    link = unit(0, Part.LINK)
    words = np.array(
        [
            [7, TraceEvent.DMA_START << 16 | 1, 3 << 24 | Clock.NIC << 20 | dma, 0x80, 0, 0xFFFFFFB8, 0, 0],
            [10, TraceEvent.RX_TAIL << 16, Clock.LINK << 20 | link, 0x0EC00001, 73, 0, 0, 0],
        ],
        np.uint32,
    )
    made = records(words, {Clock.NIC: 30_000, Clock.LINK: 6_250})
    assert made["time"].tolist() == [62_500, ((1 << 32) + 7) * 30_000]
    assert made["unit"].tolist() == [link, dma]
    assert made["event"].tolist() == [TraceEvent.RX_TAIL, TraceEvent.DMA_START]
    assert made["argument2"].tolist() == [0, -72], "a negative length is sign-extended"
    assert made["message"].tolist() == [0, 0]
    assert lost(words) == 3


def test_an_identity_survives_its_registers() -> None:
    assert FIRST == 0x4000_0000
    assert len(IDENTITY.words()) == WORDS
    assert Identity.read(IDENTITY.words()) == IDENTITY


@pytest.mark.parametrize(("place", "text"), [(0, "identity word"), (1, "address map has version")])
def test_a_foreign_board_is_rejected_by_its_first_words(place: int, text: str) -> None:
    words = list(IDENTITY.words())
    words[place] ^= 0x40
    with pytest.raises(BoardIdentityError, match=text):
        Identity.read(words)


def test_a_manifest_names_the_property_in_which_a_board_differs(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    manifest = Manifest("pair", "sim", "lanai4", {"SLACK": 80}, {"NIC": 30_000}, "0" * 40, IDENTITY)
    manifest.save(path)
    assert Manifest.load(path) == manifest
    manifest.check(IDENTITY)
    with pytest.raises(BoardIdentityError, match="its hash is f"):
        manifest.check(replace(IDENTITY, hash="f" * 32))


@pytest.mark.parametrize("text", ["", "{}", '{"identity": {}}'])
def test_an_invalid_manifest_is_reported_with_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "board.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BoardIdentityError, match=r"board\.json: not a manifest"):
        Manifest.load(path)
