"""Images that the CPU writes into the configuration port of a card.

Strategy: the port is a list of writes and two registers of the test. While the slots still process a message, the port
takes no frame. The CPU must not write one then, because the write would stall it, and the message may need the host.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from firmware.grim.host.card_images import PIO, CardImages, LoadError
from firmware.view import ClusterView
from pymodels.card.fabric import EXAMPLE, images
from pymodels.card.image import HEADER, build
from pymodels.card.registers import CONFIG, CONFIG_LOADING, CardReg, Load
from tests.unit.grim.grim_bench import Bench

SETTINGS = {"clock_divisor": 1, "image_bytes": 640, "slot_bytes": 320}
FIRST = HEADER.size + 4
BUSY_READS = 5


class Port:
    """Configuration port that empties the slots after some reads of its registers."""

    def __init__(self, outcome: Load, busy: int) -> None:
        self.outcome, self.busy = outcome, busy
        self.written: list[tuple[int, int]] = []
        """Offset and bytes of each write."""
        self.early = 0
        """Number of bytes of frames written while the slots were not empty."""

    async def pio_write(self, address: int, data: Any, *more: Any) -> None:
        """Take a write."""
        at = (address & 0xFFFFFF) - CONFIG
        self.written.append((at, len(data)))
        if self.busy and at + len(data) > FIRST:
            self.early += at + len(data) - FIRST

    async def write(self, register: int, value: int) -> None:
        """Take a command."""

    async def read(self, register: int) -> int:
        """Return a register."""
        if register == CardReg.IMAGE:
            return 0x01010101
        self.busy = max(self.busy - 1, 0)
        taken = sum(size for _, size in self.written)
        if register == CardReg.CONFIG_BYTES:
            return HEADER.size if self.busy or self.outcome != Load.DONE else taken
        assert register == CardReg.CONFIG
        running = self.outcome == Load.DONE and self.busy
        return self.outcome | (CONFIG_LOADING if running else 0)


def load(data: bytes, port: Port) -> None:
    """Load a file by PIO."""
    bench = Bench(1, channels=2)
    host = bench.machine.host(0)
    view = ClusterView(**bench.machine.view(0), circuits=EXAMPLE, fpga=SETTINGS)
    driver = CardImages(host, view, port.write, port.read)
    with patch.object(host, "pio_write", port.pio_write):
        bench.machine.finish(driver.load(data, method=PIO))


@pytest.mark.parametrize("busy", [0, BUSY_READS])
def test_frames_are_written_when_the_slots_are_empty(busy: int) -> None:
    data, port = build(EXAMPLE, images(EXAMPLE)[0], None, 640).pack(), Port(Load.DONE, busy)
    load(data, port)
    assert port.early == 0
    assert port.written[0] == (0, FIRST)
    assert sum(size for _, size in port.written) == len(data)


def test_file_with_an_invalid_header_is_not_waited_for() -> None:
    data, port = build(EXAMPLE, images(EXAMPLE)[0], None, 640).pack(), Port(Load.DAMAGED_HEADER, 0)
    with pytest.raises(LoadError, match="damaged header"):
        load(data, port)


def test_file_that_ends_with_its_header_is_not_waited_for() -> None:
    port = Port(Load.DAMAGED_HEADER, 0)
    with pytest.raises(LoadError):
        load(build(EXAMPLE, images(EXAMPLE)[0], None, 640).pack()[:12], port)
    assert port.written == [(0, 12)]
