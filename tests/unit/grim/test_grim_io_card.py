"""I/O card of GRIM without a simulator: its disk, its place in the configuration, and the rings that the NI fills.

Strategy: the disk is a file of the test; each unusable file and each invalid request has its exact text or status. The
places of messages in the card's rings and of their back pointers are compared with the register map.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware.grim.formats import Device, MessageType
from firmware.grim.formats.iocard import ANSWER, SERVICE, DiskOp, Status
from firmware.grim.host import GrimError
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.handlers import CARD_ERROR
from firmware.grim.host.io_card import IoCard
from firmware.grim.iocard.disk import Disk
from firmware.grim.iocard.endpoint import BUFFERS, OUTBOX, SCRATCH
from firmware.grim.iocard.ports import DESCRIPTORS, FRAME_COUNT, FRAME_STEP, FRAMES, LOG2, QUEUES
from firmware.grim.nic.cards import CARD, IO, IO_RING_BYTES, CardRings, card_base, ring_limit
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.view import ClusterView
from pymodels.card.registers import BANK_BYTES, REGISTERS, CardError, CardReg
from pymodels.config import load_cluster
from pymodels.config.model import FPGA_CARD, IO_CARD
from pymodels.errors import ConfigError, SanlabError
from pymodels.iocard.registers import EMPTY, WINDOW, IoReg
from tests.unit.grim.grim_io_bench import CLIENT, IoBench

CONFIG = """CLUSTER one
HOST_MAP_MYRI hosts
SWITCH s0 8
HOST a
USE MYRI
{cards}
HOST b
USE MYRI
"""


def test_a_disk_reads_and_writes_the_blocks_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(bytes(range(64)))
    disk = Disk(path, 16)
    assert disk.blocks == 4
    assert disk.read(2, 5) == bytes(range(32, 37))
    disk.write(2, b"abc")
    assert path.read_bytes() == bytes([*range(32), *b"abc", *range(35, 64)])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "the file does not exist; create it, or name another file"),
        (b"", "0 bytes are not a positive multiple of 16; give whole blocks"),
        (bytes(17), "17 bytes are not a positive multiple of 16; give whole blocks"),
    ],
)
def test_an_unusable_file_is_rejected(content: bytes | None, error: str, tmp_path: Path) -> None:
    path = tmp_path / "disk"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SanlabError) as caught:
        Disk(path, 16)
    assert str(caught.value) == f"disk {path}: {error}"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ((DiskOp.READ, 3, 16, 16), Status.DONE),
        ((DiskOp.WRITE, 0, 1, 16), Status.DONE),
        ((3, 0, 1, 16), Status.OPERATION),
        ((0, 0, 1, 16), Status.OPERATION),
        ((DiskOp.READ, 4, 1, 16), Status.BLOCK),
        ((DiskOp.READ, 0, 17, 32), Status.LENGTH),
        ((DiskOp.READ, 0, 16, 15), Status.LENGTH),
        ((DiskOp.READ, 0, 0, 16), Status.LENGTH),
    ],
)
def test_a_request_is_checked_before_the_disk_is_accessed(
    request_: tuple[int, int, int, int], status: Status, tmp_path: Path
) -> None:
    path = tmp_path / "disk"
    path.write_bytes(bytes(64))
    assert Disk(path, 16).check(*request_) == status


@pytest.mark.parametrize(("card", "base"), [(FPGA_CARD, CARD), (IO_CARD, IO)])
def test_the_base_of_the_rings_is_that_of_the_nodes_card(card: str, base: int) -> None:
    view = ClusterView(1, ("a", "b"), {}, cards=(frozenset(), frozenset({card})))
    assert card_base(view) == base
    assert view.has_endpoint_card(1) and not view.has_endpoint_card(0)


def test_messages_of_an_io_card_lie_behind_its_registers_and_are_posted_to_the_inbound_port() -> None:
    layout = Layout(Options(), 2, 1 << 21)
    nic = cast(Any, SimpleNamespace(load=lambda address: 0, put_in_card=lambda offset, message: None))
    fpga, io = CardRings(nic, layout), CardRings(nic, layout, IO)
    for turn, (data, pointer) in enumerate(((0, CardReg.BACK0), (BANK_BYTES, CardReg.BACK1), (40, CardReg.BACK0))):
        assert fpga.place(40) == (CARD + data, CARD + REGISTERS + pointer, 40 * (1 + turn // 2))
        assert io.place(40) == (IO + 0x1000 + data, IO + IoReg.INBOUND_PORT, 40 * (1 + turn // 2))


def test_areas_of_the_cards_local_memory_are_disjoint_and_a_frame_differs_from_a_back_pointer() -> None:
    rings = IO_RING_BYTES
    areas = [
        (0x1000, rings),
        (QUEUES, 16 << LOG2),
        (FRAMES, FRAME_COUNT * FRAME_STEP),
        (DESCRIPTORS, 0x1000),
        (SCRATCH, 0x100),
        (BANK_BYTES + 0x1000, rings),
        (OUTBOX, BUFFERS - OUTBOX),
        (BUFFERS, WINDOW - BUFFERS),
    ]
    for (begin, size), (after, _) in pairwise(areas):
        assert begin + size <= after
    assert all((FRAMES + FRAME_STEP * n) & 0xFF for n in range(FRAME_COUNT))
    layout = Layout(Options(), 2, 1 << 21)
    assert ring_limit(layout, IO) < rings <= ring_limit(layout)
    assert rings < 1 << 24, "a back pointer has 24 bits, so the low byte of its little-endian word is 0"
    assert 2 * rings // 32 < 1 << LOG2, "the inbound post queue holds a message for each 32 bytes of both rings"


@pytest.fixture
def cluster(tmp_path: Path) -> Callable[[str], Any]:
    (tmp_path / "hosts").write_text("a 0\nb 1\n", encoding="utf-8")

    def load(cards: str) -> Any:
        path = tmp_path / "config"
        path.write_text(CONFIG.format(cards=cards), encoding="utf-8")
        return load_cluster(path)

    return load


def test_a_host_uses_an_io_card_in_slot_3(cluster: Callable[[str], Any]) -> None:
    host = cluster("USE IO_CARD").hosts[0]
    assert host.cards == ("MYRI", IO_CARD) and host.slot(IO_CARD) == 3


@pytest.mark.parametrize(
    ("cards", "error"),
    [
        ("USE IO_CARD\nUSE CELOXICA", "second endpoint: host 'a' uses IO_CARD at "),
        ("USE CELOXICA\nUSE IO_CARD", "second endpoint: host 'a' uses CELOXICA at "),
        ("USE IO_CARD\nCHANNEL 1 IO_CARD", "wrong endpoint: IO_CARD has the highest channel that no line connects"),
    ],
)
def test_a_second_endpoint_card_and_a_line_for_its_channel_are_rejected(
    cards: str, error: str, cluster: Callable[[str], Any]
) -> None:
    with pytest.raises(ConfigError) as caught:
        cluster(cards)
    assert error in str(caught.value)


def test_a_card_without_firmware_is_an_error_of_its_driver() -> None:
    waits = []

    class Host:
        nic_base = 0

        async def pio_read(self, address: int) -> int:
            assert address == IO + IoReg.INBOUND_PORT
            return EMPTY

        async def sleep(self, duration_ps: int, why: str) -> None:
            waits.append(duration_ps)

        async def spend(self, path: str) -> None:
            pass

        def allocate(self, size: int) -> Any:
            return SimpleNamespace(address=0x1000)

        def event(self, why: str) -> Any:
            return SimpleNamespace(set=lambda: None)

    view = ClusterView(0, ("a",), {}, cards=(frozenset({IO_CARD}),))
    windows = cast(CardWindows, None)
    card = IoCard(cast(Any, Host()), Layout(Options(channels=2), 1, 1 << 21), view, 1, windows, 4096)
    with pytest.raises(GrimError, match="timed out waiting for an inbound frame; start the firmware of the I/O card"):
        card.initialise().send(None)
    assert len(waits) == 10_000


NUMBERS = {SERVICE: 40, ANSWER: 41}


def opened(folder: Path, access_ps: int = 0) -> IoBench:
    """Return a bench whose card has its parameters and handler numbers."""
    bench = IoBench(folder, access_ps)
    bench.finish(bench.driver.initialise(), bench.driver.activate(), bench.driver.learn(NUMBERS))
    return bench


def test_a_read_is_a_remote_write_followed_by_its_answer(tmp_path: Path) -> None:
    bench = opened(tmp_path)
    bench.send((7 << 8 | DiskOp.READ, 2, 5, 0x40001000), NUMBERS[SERVICE])
    bench.settle()
    (data, payload), (answer, nothing) = bench.results()
    assert (data.type, data.arguments, payload) == (MessageType.RM_V, (0x40001000, 0, 0, 5), bytes(range(128, 133)))
    assert (answer.type, answer.handler, nothing) == (MessageType.ACTIVE, NUMBERS[ANSWER], b"")
    assert answer.arguments[:3] == (7, Status.DONE, 5)
    for header in (data, answer):
        assert (header.source, header.destination, header.channel) == (Device.CELOXICA, CLIENT, 1 << 8)


def test_many_writes_are_executed_in_order_and_the_ring_positions_are_published(tmp_path: Path) -> None:
    bench = opened(tmp_path)
    for number in range(20):
        bench.local[BUFFERS + 64 * number] = 100 + number
        bench.send((number << 8 | DiskOp.WRITE, number % 4, 1, BUFFERS + 64 * number), NUMBERS[SERVICE])
    bench.settle(5000)
    assert [header.arguments[:3] for header, _ in bench.results()] == [(n, Status.DONE, 1) for n in range(20)]
    assert [bench.disk.read(block, 1)[0] for block in range(4)] == [116, 117, 118, 119]
    at = bench.host.nic_base + bench.layout.card_read
    assert [bench.word(at), bench.word(at + 4)] == [320, 320], "ten messages of 32 bytes in each ring"


def test_an_unknown_handler_is_reported_and_other_messages_are_dropped(tmp_path: Path) -> None:
    bench = opened(tmp_path)
    bench.send((1, 2, 3, 4), 99, MessageType.SEGMENT)
    bench.send((1, 2, 3, 4), 99)
    bench.settle()
    ((header, _),) = bench.results()
    assert header.handler == CARD_ERROR
    assert header.arguments[:3] == (CardError.UNKNOWN_CIRCUIT, 99, Device.CELOXICA)


def test_a_reset_aborts_the_operation_in_progress_and_those_that_wait(tmp_path: Path) -> None:
    bench = opened(tmp_path, access_ps=200_000_000)
    for number in range(2):
        bench.send((number << 8 | DiskOp.READ, 0, 4, 0), NUMBERS[SERVICE])
    bench.settle(50)
    bench.finish(bench.driver.reset())
    bench.settle()
    bench.send((2 << 8 | DiskOp.READ, 0, 4, 0), NUMBERS[SERVICE])
    bench.settle()
    answers = [header.arguments[:2] for header, _ in bench.results() if header.type == MessageType.ACTIVE]
    assert answers == [(0, Status.ABORTED), (1, Status.ABORTED), (2, Status.DONE)]


def test_numbers_are_not_sent_before_both_handlers_are_known(tmp_path: Path) -> None:
    bench = IoBench(tmp_path)
    bench.finish(bench.driver.initialise(), bench.driver.learn({SERVICE: 40}))
    bench.send((DiskOp.READ, 0, 4, 0), 40)
    bench.settle()
    ((header, _),) = bench.results()
    assert header.handler == CARD_ERROR


def test_messages_before_a_new_start_of_the_firmware_are_dropped(tmp_path: Path) -> None:
    bench = IoBench(tmp_path)
    bench.settle()
    request = DiskOp.READ | 7 << 8, 0, 16, 0x1000
    bench.send(request, NUMBERS[SERVICE])
    bench.settle()
    bench.restart_ni()
    bench.finish(bench.driver.initialise(), bench.driver.learn(NUMBERS))
    bench.settle()
    assert bench.results() == []
    bench.send(request, NUMBERS[SERVICE])
    bench.settle()
    answers = [header.arguments for header, _ in bench.results() if header.handler == NUMBERS[ANSWER]]
    assert answers == [(7, Status.DONE, 16, 0)]
