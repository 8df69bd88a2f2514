"""Equality of the I/O card's register map and the HDL generated from it.

Strategy: the package is generated again and compared byte for byte. Offsets and bits of the host's registers are
compared with those of the 80960RP, written down here a second time. Descriptors that the DMA engine would reject are
errors.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymodels.iocard import registers
from pymodels.iocard.registers import TO_PCI, Inbound, IoReg, Outbound, Queue, descriptor


def test_the_committed_package_is_what_the_map_generates() -> None:
    assert registers.PACKAGE.read_text(encoding="utf-8") == registers.package_text(), (
        "run `python -m pymodels.iocard.registers --sv`"
    )


def test_registers_of_the_host_have_the_offsets_of_the_80960rp() -> None:
    host = {name: int(value) for name, value in IoReg.__members__.items() if value < IoReg.CONTROL}
    assert host == {
        "INBOUND_DOORBELL": 0x20,
        "INBOUND_STATUS": 0x24,
        "INBOUND_MASK": 0x28,
        "OUTBOUND_DOORBELL": 0x2C,
        "OUTBOUND_STATUS": 0x30,
        "OUTBOUND_MASK": 0x34,
        "INBOUND_PORT": 0x40,
        "OUTBOUND_PORT": 0x44,
    }
    assert (Outbound.DOORBELL, Outbound.POST) == (2, 3)
    assert (Inbound.DOORBELL, Inbound.POST) == (2, 4)


def test_registers_are_aligned_and_distinct_and_pointers_have_the_order_of_the_queues() -> None:
    offsets = [int(register) for register in IoReg]
    assert all(offset % 4 == 0 and offset < registers.REGISTERS for offset in offsets)
    assert len(set(offsets)) == len(IoReg.__members__)
    for queue in Queue:
        assert IoReg[f"{queue.name}_HEAD"] == IoReg.INBOUND_FREE_HEAD + 8 * queue
        assert IoReg[f"{queue.name}_TAIL"] == IoReg.INBOUND_FREE_TAIL + 8 * queue


def test_a_descriptor_has_its_four_words() -> None:
    assert descriptor(0x1003, 0x203, 65535, True, 0x310) == (0x310, 0x1003, 0x203, TO_PCI | 65535)
    assert descriptor(0, 8, 1, False) == (0, 0, 8, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0, 0, 0, True), "descriptor: 0 bytes; a descriptor moves 1 to 65535"),
        ((0, 0, 65536, True), "descriptor: 65536 bytes; a descriptor moves 1 to 65535"),
        ((1, 4, 1, True), "descriptor: PCI address 0x1 and local address 0x4 differ modulo 8; align one"),
        ((0, 0, 1, True, 4), "descriptor: next descriptor at 0x4; its address must be a multiple of 8"),
    ],
)
def test_a_descriptor_that_the_engine_would_reject_is_an_error(arguments: tuple[int, ...], error: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(error)}$"):
        descriptor(*arguments)  # type: ignore[arg-type]


def test_the_generator_prints_or_writes_the_package(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert registers.main([]) == 0
    assert capsys.readouterr().out == registers.package_text()
    monkeypatch.setattr(registers, "PACKAGE", tmp_path / "myri_io_pkg.sv")
    assert registers.main(["--sv"]) == 0
    assert registers.PACKAGE.read_text(encoding="utf-8") == registers.package_text()
    assert registers.main(["--verilog"]) == 2
    assert "usage" in capsys.readouterr().err
