"""Reference models of the NIC's blocks, compared with hand calculations.

Strategy: the benches rely on these models. Each rule of the fact sheet in a model therefore gets a small case with a
hand-made result, independent of the RTL. Random images check properties of any input.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.nic.arbiter import ArbiterModel, Requester
from pymodels.nic.dma import ChainModel, ones_sums, write_block
from pymodels.nic.doorbell import DoorbellModel
from pymodels.nic.net import ReceiveModel, SendModel, crc8, packet_key
from pymodels.nic.sp import HEADERS, USER, Coming, SpModel
from pymodels.registers import Flag

PIO, DMA, RX, TX, CPU = Requester


def test_two_accesses_are_granted_to_the_two_highest_ranks() -> None:
    model = ArbiterModel(2)
    assert model.clock({CPU, TX, RX}) == [RX, TX]
    assert model.clock({CPU, DMA}) == [DMA, CPU]
    assert model.clock({CPU}) == [CPU]
    assert model.clock(set()) == []


def test_io_requesters_alternate_after_one_access() -> None:
    model = ArbiterModel(1)
    assert [model.clock({PIO, DMA, RX})[0] for _ in range(4)] == [PIO, DMA, PIO, DMA]


def test_three_accesses_in_a_clock_are_rejected() -> None:
    with pytest.raises(ValueError, match="3 is not 1 or 2"):
        ArbiterModel(3)


def test_crc8_of_the_standard_check_string() -> None:
    """CRC-8 with polynomial 0x07 and initial value 0 of "123456789" is 0xF4."""
    assert crc8(b"123456789") == 0xF4


@given(st.binary(max_size=64))
def test_a_packet_with_its_crc_has_syndrome_zero(data: bytes) -> None:
    assert crc8(data + bytes([crc8(data)])) == 0


def test_the_key_follows_the_route() -> None:
    assert packet_key(bytes([0x81, 0xBF, 6, 0x36, 1, 2, 3])) == 0x06360102
    assert packet_key(b"\x06") == 0x06000000
    assert packet_key(b"\x80\x81") == 0


def test_pieces_of_a_packet_join() -> None:
    sram = bytearray(range(64))
    model = SendModel(sram)
    model.write_smp(8)
    model.write_sa(3)
    model.write_limit(13, False)
    model.write_limit(16, False)
    model.write_smp(32)
    model.write_sa(0)
    model.write_limit(34, True)
    body = bytes([11, 12, 13, 14, 15, 32, 33])
    assert model.packets == [body + bytes([crc8(body)])]
    model.write_smp(5)
    model.write_limit(5, True)
    assert len(model.packets) == 1, "no packet without an open packet or data to send"


def test_a_received_packet_ends_with_its_syndrome() -> None:
    sram = bytearray(64)
    packet = bytes(range(1, 10))
    got = ReceiveModel(sram).packet(packet + bytes([crc8(packet)]), [(0, 8), (32, 64)])
    assert (got.rmp, got.orun, got.length, got.syndrome, got.buffers) == (40, 6, 10, 0, 1)
    assert sram[:8] + sram[32:34] == packet + b"\0"


def test_checksums_sum_their_halves_with_end_around_carry() -> None:
    assert ones_sums(bytes.fromhex("ffff 0001 0002 0003"), 0) == (2, 4)
    assert ones_sums(bytes.fromhex("aabb"), 2) == (0, 0xAABB)
    assert ones_sums(bytes.fromhex("aa"), 1) == (0x00AA, 0)
    assert ones_sums(b"", 0) == (0, 0)


def test_chains_run_by_priority_and_stop_at_their_terminal_block() -> None:
    sram, host = bytearray(1024), bytearray(range(256)) * 4
    write_block(sram, 0, 24, Flag.E2L | Flag.WAKE, 5, 512, 3)
    write_block(sram, 24, 0, Flag.TERMINAL, 0, 0, 0)
    write_block(sram, 48, 24, Flag(0), 4, 512, 900)
    model = ChainModel(sram, host)
    model.current = [0, 24, 24, 48]
    model.pulse(0b1001)
    done = model.run()
    assert [(block.chain, block.bytes, block.e2l, block.wake) for block in done] == [
        (0, 5, True, True),
        (3, 4, False, False),
    ]
    assert (int.from_bytes(sram[4:6], "big"), int.from_bytes(sram[6:8], "big")) == ones_sums(
        bytes([3, 4, 5, 6, 7]), 512
    )
    assert sram[512:517] == bytes([3, 4, 5, 6, 7]) and host[900:904] == bytes([3, 4, 5, 6])
    assert sram[3] & Flag.TERMINAL and model.current == [24, 24, 24, 24]


@pytest.mark.parametrize(("user", "good_crc"), [(0, True), (5, False), (USER, True)])
def test_sp_packet_of_its_header_size_has_its_user_bytes_in_recv_status(user: int, good_crc: bool) -> None:
    coming = Coming.random(random.Random(user), user, good_crc)
    assert coming.status == user | (not good_crc) << 16
    assert Coming(coming.wire[:-1]).bad_size and Coming(coming.wire + b"x").bad_size


@pytest.mark.parametrize("size", [HEADERS, HEADERS + USER + 2])
def test_a_packet_of_the_sp_with_an_impossible_size_has_no_user_bytes(size: int) -> None:
    assert Coming(bytes(size)).status == 1 << 17


def test_an_adapter_of_the_sp_counts_what_it_stores_and_sends_in_the_order_fetched() -> None:
    adapter = SpModel(bytearray(range(32)))
    adapter.fetch(4, 2)
    adapter.fetch(8, 0)
    adapter.store(0, b"ab")
    assert (adapter.fetched, adapter.stored, bytes(adapter.host[:3])) == (2, 1, b"ab\2")
    assert adapter.send([1]) == b"\0\0\0\1\4\5"


def test_a_full_doorbell_fifo_drops_until_the_consumer_moves() -> None:
    sram = bytearray(8192)
    model = DoorbellModel(sram, [4096] * 4, 0, False)
    assert all(model.write(0x808000 + 4 * n, n.to_bytes(4, "big")) for n in range(512))
    assert not model.write(0x808000, bytes(4)) and model.overflows == 1
    model.consumer[0] = 1
    assert model.write(0x80AAA8, b"late")
    assert sram[4096:4104] == bytes.fromhex("0080aaa8") + b"late"


def test_four_fifos_are_chosen_by_the_page() -> None:
    model = DoorbellModel(bytearray(1 << 16), [k << 12 for k in range(4)], 0, True)
    for page in (0, 1, 1, 3):
        model.write(0x808000 + (page << 12), bytes(4))
    assert model.producer == [1, 2, 0, 1]
