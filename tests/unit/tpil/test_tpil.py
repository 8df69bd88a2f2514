"""TPIL: choice of the method, transfers by each method, and errors.

Strategy: cut-offs are computed from invented times with a known answer. Transfers run on the pure-Python machine, with
the NIC's memory in place of a card and a driver that copies; the bytes that arrive are compared. Every error message is
checked.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from firmware.tpil.host import (
    CardDma,
    CardGoneError,
    Config,
    Method,
    TpilError,
    create,
    read_config,
    write_config,
)
from firmware.tpil.host.config import cut_offs
from pymodels.card.registers import REGISTERS, CardReg
from pymodels.costs import PathTable
from pymodels.machine import Machine

WINDOW, SIZE = 0xE0000000, 0x10000
DATA = bytes(range(1, 253)) * 40
WORDS, MMX, DIRECT = Method.WORDS, Method.MMX, Method.DIRECT


class Driver:
    """DMA driver that copies the bytes after a delay."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.fetches: list[tuple[int, int, int]] = []

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Copy the bytes after a delay."""
        self.fetches.append((source, target, size))
        await self.machine.host(0).sleep(100_000_000)
        self.machine.nic(0).sram.data[target : target + size] = self.machine.host(0).load_bytes(source, size)


def device(with_driver: bool = True, sse: bool = True) -> tuple[Machine, Driver, Any, int]:
    """Return machine, driver, device, and the address of DATA in host memory."""
    machine = Machine(2)
    driver = Driver(machine)
    source = machine.host(0).allocate(len(DATA) + 8)
    source.view[: len(DATA)] = DATA
    made = create(machine.host(0), WINDOW, SIZE, driver if with_driver else None, sse=sse)
    return machine, driver, made, source.address


def test_cut_off_is_where_the_lines_through_two_measured_sizes_cross() -> None:
    times = {WORDS: [10.0, 50.0, 250.0], DIRECT: [40.0, 40.0, 40.0]}
    assert cut_offs([4, 20, 100], times) == ((0, WORDS), (16, DIRECT))


def test_method_that_is_never_the_fastest_has_no_cut_off_and_a_method_may_have_two() -> None:
    times = {WORDS: [1.0, 5.0, 1.0], MMX: [2.0, 3.0, 4.0], DIRECT: [9.0, 9.0, 9.0]}
    assert [method for _, method in cut_offs([4, 8, 12], times)] == [WORDS, MMX, WORDS]


def test_choice_changes_at_the_cut_off_and_with_the_alignment() -> None:
    config = Config(((0, WORDS), (64, DIRECT)), ((0, MMX),))
    assert [config.choose(0x100, 8, size) for size in (4, 60, 64, 4096)] == [WORDS, WORDS, DIRECT, DIRECT]
    assert config.choose(0x104, 0, 4096) == MMX


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("size", [4, 256, 300, 10_000])
def test_every_method_moves_the_bytes_to_the_target(method: Method, size: int) -> None:
    machine, _, tpil, source = device()
    machine.finish(tpil.time(method, 0x208, source, size))
    assert bytes(machine.nic(0).sram.data[0x208 : 0x208 + size]) == DATA[:size]
    assert not any(machine.nic(0).sram.data[:0x208])


def test_direct_dma_is_one_command_a_page_and_bounce_one_in_all() -> None:
    machine, driver, tpil, source = device()
    machine.finish(tpil.move(DIRECT, 0, source, 10_000))
    assert [size for _, _, size in driver.fetches] == [4096, 4096, 1808]
    driver.fetches.clear()
    machine.finish(tpil.move(Method.BOUNCE, 0, source + 4, 8192))
    assert [(at % 8, size) for at, _, size in driver.fetches] == [(0, 8192)]


def test_benchmark_returns_usable_cut_offs() -> None:
    machine, _, tpil, source = device()
    (config,) = machine.finish(tpil.benchmark([4, 64, 1024]))
    tpil.configure(config)
    assert machine.finish(tpil.h2c(0, source, 1024)) == [config.choose(source, 0, 1024)]


def test_host_without_sse_and_device_without_driver_have_fewer_methods() -> None:
    assert device(with_driver=False, sse=False)[2].methods(aligned=True) == (WORDS, MMX)
    assert DIRECT not in device()[2].methods(aligned=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WORDS, SIZE - 8, 0, 12), "stay inside the card"),
        ((WORDS, SIZE - 5, 0, 6), "stay inside the card"),
        ((WORDS, 0, 0, -1), "-1 bytes"),
        ((WORDS, 0, 0, 0), "0 bytes"),
        ((WORDS, -4, 0, 8), "stay inside the card"),
        ((WORDS, -8, 0, 4), "stay inside the card"),
        ((Method.BOUNCE, 0, 0, 8), "bounce, but the device has no driver"),
        ((Method.SSE, 0, 0, 8), "no SSE stores"),
    ],
)
def test_invalid_transfer_is_rejected(arguments: tuple[Method, int, int, int], message: str) -> None:
    machine, _, tpil, source = device(with_driver=False, sse=False)
    method, target, offset, size = arguments
    with pytest.raises(TpilError, match=message):
        machine.finish(tpil.move(method, target, source + offset, size))


def test_cut_offs_with_unavailable_methods_are_rejected() -> None:
    with pytest.raises(TpilError, match="the device has no driver"):
        device(with_driver=False)[2].configure(Config(((0, DIRECT),), ((0, MMX),)))
    with pytest.raises(TpilError, match="not equal modulo 8"):
        device()[2].configure(Config(((0, MMX),), ((0, DIRECT),)))
    with pytest.raises(TpilError, match="no SSE stores"):
        device(sse=False)[2].configure(Config(((0, MMX),), ((0, MMX), (64, Method.SSE))))


def test_misaligned_direct_dma_is_rejected_before_any_transfer() -> None:
    machine, driver, tpil, source = device()
    with pytest.raises(TpilError, match="not equal modulo 8"):
        machine.finish(tpil.move(DIRECT, 4, source, 64))
    assert driver.fetches == []


def test_concurrent_transfers_over_the_bounce_buffer_do_not_mix_their_bytes() -> None:
    machine, _, tpil, source = device()
    places = [(0x1000 * i, source + 256 * i) for i in range(3)]
    machine.finish(*(tpil.move(Method.BOUNCE, target, at, 600) for target, at in places))
    for i, (target, _) in enumerate(places):
        assert bytes(machine.nic(0).sram.data[target : target + 600]) == DATA[256 * i : 256 * i + 600]


class Card:
    """Model of a card's DMA registers: a command uses the register values at its start and takes time."""

    def __init__(self, machine: Machine) -> None:
        self.host = machine.host(0)
        self.registers: dict[int, int] = {}
        self.commands: list[tuple[int, ...]] = []
        self._ends = 0

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Write a register of the card."""
        await self.host.sleep(100_000)
        assert self.host.now >= self._ends, "written while a command runs"
        self.registers[address - WINDOW - REGISTERS] = int.from_bytes(data, "big")
        if address - WINDOW - REGISTERS == CardReg.DMA_BYTES:
            self.commands.append(tuple(self.registers.values()))
            self.registers.clear()
            self._ends = self.host.now + 5_000_000

    async def pio_read(self, address: int) -> int:
        """Return 1 while a command runs, else 0."""
        await self.host.sleep(100_000)
        return int(self.host.now < self._ends)


@pytest.mark.parametrize("method", list(Method))
def test_every_method_moves_any_number_of_bytes_and_leaves_those_around_them(method: Method) -> None:
    machine, _, tpil, source = device()
    sram = machine.nic(0).sram.data
    for target, skew, size in product(range(0x200, 0x208), (0, 1, 3, 4, 7), (1, 2, 3, 4, 5, 9, 300)):
        if method not in tpil.methods(aligned=not (target ^ source + skew) & 7):
            continue
        sram[0x1F0:0x400] = b"\xee" * 0x210
        machine.finish(tpil.time(method, target, source + skew, size))
        expected = b"\xee" * (target - 0x1F0) + DATA[skew : skew + size]
        assert bytes(sram[0x1F0:0x400]) == expected.ljust(0x210, b"\xee"), (target, skew, size)


@pytest.mark.parametrize("methods", list(product(Method, Method)))
def test_two_transfers_at_once_share_a_word_without_loss(methods: tuple[Method, Method]) -> None:
    machine, _, tpil, source = device()
    for middle in (0x300, 0x301, 0x302, 0x303):
        machine.nic(0).sram.data[0x2F0:0x310] = bytes(0x20)
        first, second = (middle - 0x0E, source, 0x0E), (middle, source + 16, 0x0C)
        places = zip(methods, (first, second), strict=True)
        moves = [(method, place) for method, place in places if _may(tpil, method, place)]
        machine.finish(*(tpil.time(method, *place) for method, place in moves))
        for _, (target, at, size) in moves:
            assert bytes(machine.nic(0).sram.data[target : target + size]) == DATA[at - source :][:size]


def _may(tpil: Any, method: Method, place: tuple[int, int, int]) -> bool:
    """Return True if a method can make a transfer."""
    return method in tpil.methods(aligned=not (place[0] ^ place[1]) & 7)


class GoneCard:
    """DMA registers of a card that goes away: it answers, or reads as ones, and never finishes."""

    def __init__(self, machine: Machine, value: int) -> None:
        self.host, self.value, self.polls = machine.host(0), value, 0

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Ignore a write."""

    async def pio_read(self, address: int) -> int:
        """Return the register's value."""
        self.polls += 1
        await self.host.sleep(100_000)
        return self.value


@pytest.mark.parametrize(
    ("value", "polls", "message"),
    [
        (0xFFFFFFFF, 1, "card: it does not answer during a transfer of 64 bytes to 0x8; reset the card"),
        (64, 10_000, "card: it has not finished 64 bytes to 0x8 after 10000 polls; reset the card"),
    ],
)
def test_target_that_goes_away_is_an_error_of_all_transfers_and_no_hang(
    value: int, polls: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(2)
    host, card = machine.host(0), GoneCard(machine, value)
    monkeypatch.setattr(host, "pio_write", card.pio_write)
    monkeypatch.setattr(host, "pio_read", card.pio_read)
    source = host.allocate(1024).address
    tpil = create(host, WINDOW, SIZE, CardDma(host, WINDOW))
    said = []

    async def move(method: Method) -> None:
        with pytest.raises(CardGoneError) as caught:
            await tpil.move(method, 8, source + 8, 64)
        said.append(str(caught.value))

    machine.finish(move(Method.DIRECT), move(Method.BOUNCE))
    machine.finish(move(Method.BOUNCE))
    assert len(said) == 3 and all(text.startswith(message) for text in said)
    assert card.polls == polls


MEASURED = Config(((0, WORDS), (12, MMX), (4301, DIRECT)), ((0, MMX), (64, Method.BOUNCE)))


def test_configuration_is_read_back_from_its_file(tmp_path: Path) -> None:
    write_config(tmp_path / "tpil.toml", MEASURED)
    assert read_config(tmp_path / "tpil.toml") == MEASURED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[askew]]\nfirst = 0\nmethod = 'mmx'", "aligned: no cut-offs; write"),
        ("[[aligned]]\nfirst = 4\nmethod = 'mmx'", "aligned, entry 1: first is 4; begin with first = 0"),
        ("[[aligned]]\nfirst = 0\nmethod = 'mmy'", "entry 1: unknown method 'mmy'; did you mean 'mmx'?"),
        ("[[aligned]]\nfirst = -1\nmethod = 'mmx'", "entry 1: first is -1; give a number of bytes"),
        ("[[aligned]]\nfirst = 0", "entry 1: not an entry with first and method alone"),
        ("[[aligned]]\nfirst = 0\nmethod = 'mmx'\n" * 2, "entry 2: first is 0, not above 0; sort the entries"),
        ("[[alinged]]\nfirst = 0", "unknown table: 'alinged'; did you mean 'aligned'?"),
    ],
)
def test_invalid_file_is_rejected_with_table_and_entry(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "tpil.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TpilError, match=re.escape(message)):
        read_config(tmp_path / "tpil.toml")


def test_the_registers_of_a_card_have_one_user_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(2)
    host, card = machine.host(0), Card(machine)
    monkeypatch.setattr(host, "pio_write", card.pio_write)
    monkeypatch.setattr(host, "pio_read", card.pio_read)
    driver = CardDma(host, WINDOW)
    wanted = [(0x1000 * i, 0x2000 * i, 8 * i) for i in range(1, 4)]
    machine.finish(*(driver.fetch(*one) for one in wanted))
    assert card.commands == wanted


@pytest.mark.parametrize(("source", "target", "size"), [(0x1004, 0, 8), (0x1000, 0, 0), (0x1000, 0, 0x8008)])
def test_driver_rejects_transfers_that_the_card_cannot_do(source: int, target: int, size: int) -> None:
    machine = Machine(2)
    with pytest.raises(ValueError, match="not equal modulo 8, or not 1 to 32768 bytes"):
        machine.finish(CardDma(machine.host(0), WINDOW).fetch(source, target, size))


def test_tpil_and_another_layer_of_the_host_share_one_cost_table() -> None:
    tables = [PathTable.of_host(name) for name in ("tpil", "grim")]
    assert set(PathTable.together(tables).paths) == {path for table in tables for path in table.paths}
