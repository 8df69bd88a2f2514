"""The baseline of EPOS: messages arrive once, in order and unchanged, through the six buffers in NIC memory.

Strategy: two hosts on the machine, with each LANai and each option that moves data another way. They send messages of
all sizes and traffic to slow readers; all-to-all traffic is part of `tests/unit/conformance`. Words in NIC memory (a
doorbell, a control block, payload) are changed while a message is in flight. The result must follow from the change.
Each misuse has its own error.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest

from firmware.epos.host import EposError, MemoryRange
from firmware.epos.nic.layout import Place
from firmware.epos.nic.words import Word
from firmware.epos.options import Options
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.machine import MachineError
from pymodels.registers import Block, Pci
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench

SIZES = (0, 1, 4, 255, 256, 257, 4095, 4096, 4097, 20_000, 65_536)
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
LATE_PS = 3_000_000_000


def drawn(seed: int, sizes: Any = SIZES) -> list[bytes]:
    """Return random messages of given sizes."""
    rng = random.Random(seed)
    return [rng.randbytes(size) for size in sizes]


@each_nic
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"notify": "word"},
        {"rx_fifo": "host"},
        {"pio_limit": 0},
        {"pio_limit": 4096},
        {"mtu": 512, "slot_bytes": 65_536},
        {"send_frames": 2, "receive_frames": 2, "slots": 1},
    ],
    ids=str,
)
def test_messages_of_all_sizes_arrive_both_ways_at_once(nic: str, options: dict[str, Any]) -> None:
    bench, sent = Bench(nic=nic, **options), [drawn(1), drawn(2)]
    count = len(SIZES)

    async def host(me: int) -> list[bytes]:
        await bench.give(me, 1 - me, sent[me])
        return [message.data for message in await bench.take(me, count)]

    assert bench.run(host(0), host(1)) == [sent[1], sent[0]]


def test_host_can_start_the_dma_chain() -> None:
    bench, sent = Bench(activate="host"), drawn(3, [4096, 300, 9000])
    _, got = bench.run(bench.give(0, 1, sent), bench.take(1, 3))
    assert [message.data for message in got] == sent


def test_frames_for_a_late_reader_wait_in_the_receive_ring() -> None:
    bench, sent = Bench(), drawn(4, [4096] * 30)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 30)

    _, got = bench.run(bench.give(0, 1, sent), late())
    assert [message.data for message in got] == sent
    assert bench.word(1, Word.HELD) > 0


def test_overwritten_slot_is_detected_and_its_message_dropped() -> None:
    bench, sent = Bench(staging="overwrite"), drawn(5, [8192] * 12)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        got: list[bytes] = []
        while len(got) + bench.hosts[1].incoming.overwritten < 12:
            if (message := await bench.hosts[1].poll()) is not None:
                got.append(message.data)
        return got

    _, got = bench.run(bench.give(0, 1, sent), late())
    assert got == sent[-4:], "the last ones, which nobody has overwritten"


def test_payload_is_moved_three_times_by_hardware_and_once_by_the_cpu() -> None:
    bench, size = Bench(), 60_000
    moved: Counter[int] = Counter()
    bench.run(bench.give(0, 1, [bytes(size)]), bench.take(1, 1))
    for _, _, event, _, first, second, _ in bench.machine.trace.records:
        if event == TraceEvent.DMA_DONE:
            moved[TraceEvent.DMA_DONE] += abs(second)
        elif event == TraceEvent.RX_TAIL:
            moved[TraceEvent.RX_TAIL] += first
    frames = -(-size // 4096)
    assert moved[TraceEvent.DMA_DONE] == 2 * size, "host to NIC, and NIC to host"
    assert 0 <= moved[TraceEvent.RX_TAIL] - size - 12 * frames < 8 * frames, "NIC to NIC: the header and padding beside"
    assert bench.machine.host(1).copied_bytes == size and bench.machine.host(0).copied_bytes == 0


# ---- words in NIC memory determine the result


def fifo_entry(bench: Bench, node: int, index: int) -> int:
    """Return the address of an entry of the doorbell FIFO."""
    return bench.hosts[node].place.bells + 8 * index


def test_doorbell_removed_from_the_fifo_sends_no_frame() -> None:
    bench = Bench()
    nic, original = bench.machine.nic(0), bench.machine.nic(0).load_words

    def removed(address: int, count: int) -> tuple[int, ...]:
        words = original(address, count)
        return (words[0], 0) if address == fifo_entry(bench, 0, 0) else words

    with patch.object(nic, "load_words", removed):
        bench.run(bench.give(0, 1, [b"lost", b"sent"]))
        (got,) = bench.run(bench.take(1, 1))
    assert got[0].data == b"sent" and bench.word(0, Word.EMPTY) == 1


@pytest.mark.parametrize("bell", [0, 0x0100_0000, 0x017F_0010, 0x0100_FFFF, 0xFF00_0010])
def test_doorbell_without_a_frame_is_only_counted(bell: int) -> None:
    bench = Bench()
    host = bench.machine.host(0)
    bench.run(host.pio_write(host.nic_base + Pci.DOORBELL, bell.to_bytes(4, "big")))
    _, got = bench.run(bench.give(0, 1, [b"after"]), bench.take(1, 1))
    assert got[0].data == b"after" and bench.word(0, Word.EMPTY) == 1


def test_damaged_control_block_changes_the_dma_target() -> None:
    bench = Bench()
    host, place = bench.machine.host(0), bench.hosts[0].place
    original, at = host.pio_write, host.nic_base + place.tx_blocks + Block.CSUM

    async def damaged(address: int, data: bytes, combine: bool = False) -> None:
        await original(address, data[:16] + (60 << 20).to_bytes(4, "big") if address == at else data, combine)

    with patch.object(host, "pio_write", damaged), pytest.raises(MachineError, match="not in allocated memory"):
        bench.run(bench.give(0, 1, [bytes(4096)]), bench.take(1, 1))


def test_one_large_frame_is_a_header_six_words_of_a_block_and_a_doorbell() -> None:
    bench = Bench()
    host = bench.machine.host(0)
    before = len(bench.machine.trace.records)
    bench.run(bench.give(0, 1, [bytes(4096)]), bench.take(1, 1))
    wrote = [
        second
        for _, unit, event, _, _, second, _ in bench.machine.trace.records[before:]
        if event == TraceEvent.PIO_WRITE and unit == host._unit
    ]
    assert wrote == [12, 20, 4, 4]


def test_payload_changed_in_the_send_ring_arrives_changed() -> None:
    bench, place = Bench(), Place(Options.from_values({}).on(True), 2)
    nic, original = bench.machine.nic(0), bench.machine.nic(0).store_words

    def changed(address: int, words: Any) -> None:
        original(address, words)
        if address == place.slot(0) - 8:
            nic.store(place.slot(0) + place.header_bytes, 0x21212121)

    with patch.object(nic, "store_words", changed):
        _, got = bench.run(bench.give(0, 1, [b"abcdefgh"]), bench.take(1, 1))
    assert got[0].data == b"!!!!efgh"


def test_payload_changed_in_staging_is_delivered_changed() -> None:
    bench = Bench()
    bench.run(bench.give(0, 1, [b"sent"]))
    bench.run(bench.machine.host(1).sleep(50_000_000, "its arrival"))
    memory = bench.hosts[1]._memory
    bench.machine.host(1).store_bytes(memory.address + bench.hosts[1].place.staging(0, 0), b"SEEN")
    assert bench.run(bench.take(1, 1))[0][0].data == b"SEEN"


def test_a_damaged_frame_is_counted_and_dropped() -> None:
    bench = Bench()
    bench.machine.faults.corrupt(0, 1, 0, 14)
    _, got = bench.run(bench.give(0, 1, [b"damaged", b"whole"]), bench.take(1, 1))
    assert got[0].data == b"whole" and bench.word(1, Word.BAD) == 1


def test_pinned_memory_is_sent_without_a_copy() -> None:
    bench, data = Bench(), drawn(6, [10_000])[0]
    memory = bench.machine.host(0).allocate(10_000)
    memory.view[:] = data

    async def send() -> None:
        await bench.hosts[0].send(1, MemoryRange(memory.address, 10_000))
        await bench.hosts[0].left()
        memory.view[:] = bytes(10_000)

    _, got = bench.run(send(), bench.take(1, 1))
    assert got[0].data == data


# ---- rejected arguments and compositions


@pytest.mark.parametrize(
    ("node", "data", "communicator", "said"),
    [
        (0, b"", 0, r"host host0: a message to node 0: unknown node; give one of \[1\]"),
        (7, b"", 0, "a message to node 7: unknown node"),
        (1, "text", 0, "invalid data of type str; give bytes, or a MemoryRange"),
        (1, bytes(65_537), 0, "65537 bytes \\(17 frames of 4096\\), but a slot has 65536; cut it, or increase"),
        (1, b"", 256, "invalid communicator 256; give 0 to 255"),
    ],
)
def test_each_misuse_raises_its_error_without_side_effects(node: int, data: Any, communicator: int, said: str) -> None:
    bench = Bench()
    with pytest.raises(EposError, match=said):
        bench.run(bench.hosts[0].send(node, data, communicator))
    _, got = bench.run(bench.give(0, 1, [b"after"]), bench.take(1, 1))
    assert got[0].data == b"after"


@pytest.mark.parametrize(
    ("given", "nodes", "said"),
    [
        ({"mtu": 1000}, 2, "option mtu: 1000 is not a power of two"),
        ({"mtu": 8192, "slot_bytes": 4096}, 2, "a staging slot of 4096 bytes is shorter than a frame of 8192"),
        ({"slots": 3}, 2, "option slots: 3 is not a power of two"),
        ({"staging": "overwrite", "rx_fifo": "host"}, 2, "has no room for uncopied messages"),
        ({"notify": "bell"}, 2, "unknown word: epos.notify is 'bell'"),
        ({"protocols": "flaw"}, 2, "unknown word: epos.protocols is 'flaw'; did you mean 'flow'"),
        ({"mtu_shift": 1}, 2, "unknown option 'mtu_shift': epos has no such option"),
        ({}, 65, "65 nodes: headers have room for 64"),
        (
            {"send_frames": 64, "receive_frames": 64, "mtu": 8192, "slots": 64},
            64,
            r"the NIC's memory: 256 \(freed counts\) \+ .* end at \d+, but it has 1048576",
        ),
    ],
)
def test_invalid_options_are_rejected_with_sum_or_rule(given: Any, nodes: int, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        check_options("epos", given, nodes, 1 << 20, nic_kind("lanai9").card(1 << 20))


def test_options_that_need_doorbells_or_chains_are_rejected_on_cards_without() -> None:
    card = nic_kind("lanai4").card(1 << 20)
    check_options("epos", {}, 2, 1 << 20, card)
    for given, said in (({"notify": "doorbell"}, "no doorbells"), ({"activate": "host"}, "no chains")):
        with pytest.raises(OptionError, match=said):
            check_options("epos", given, 2, 1 << 20, card)


def test_the_memory_map_has_the_six_buffers_and_nothing_else() -> None:
    place = Place(Options.from_values({}).on(True), 8)
    assert list(place.parts) == [
        "freed counts",
        "routes",
        "Tx FIFO Queue",
        "Rx FIFO Queue",
        "Tx DMA Requests",
        "Rx DMA Requests",
        "Send Ring",
        "Receive Ring",
    ]
    ends = [at + size for at, size in place.parts.values()]
    assert all(at >= end for (at, _), end in zip(list(place.parts.values())[1:], ends, strict=False))
    assert place.end == ends[-1] and place.header_bytes == 12
