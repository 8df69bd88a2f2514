"""Equality of the card's register map and circuits with the HDL generated from them.

Strategy: both files are generated again and compared byte for byte. The map is checked for rules that no generator
checks: aligned words, no overlap, and the handler table apart from registers. The generated module of an invented
circuit file is read back: an instance for each slot's circuit, in reset unless one of its images is loaded.
"""

from __future__ import annotations

import re

import pytest

from pymodels.card import fabric, registers
from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import Circuit
from pymodels.card.registers import CardReg, Forward, entry


def test_the_committed_package_is_what_the_map_generates() -> None:
    assert registers.PACKAGE.read_text(encoding="utf-8") == registers.package_text(), "run the generator with --sv"


def test_the_committed_circuits_are_those_of_the_example() -> None:
    assert fabric.FILE.read_text(encoding="utf-8") == fabric.module_text(fabric.EXAMPLE), "run the generator with --sv"


def test_registers_are_aligned_and_distinct() -> None:
    offsets = [int(register) for register in CardReg]
    assert all(offset % 4 == 0 and offset <= CardReg.HANDLER for offset in offsets)
    assert len(set(offsets)) == len(CardReg.__members__)
    assert CardReg.HANDLER & 0xC0 == 0x80, "bits 7:6 = 10 select the handler table"


def test_a_forwarding_entry_has_its_fields_at_their_bits() -> None:
    assert entry(Forward.ENDPOINT, 0x0702, 3, 99) == (1 << 29 | 3 << 16 | 0x0702, 99)


def test_every_circuit_of_the_example_has_a_model_and_a_file() -> None:
    for name in fabric.names(fabric.EXAMPLE):
        assert name in CIRCUITS
        assert (fabric.FILE.parent / f"myri_circuit_{name}.sv").is_file()


def test_a_circuit_in_two_images_is_one_instance_that_either_of_them_configures() -> None:
    text = fabric.module_text((Circuit("a", 0, "crc32"), Circuit("b", 0, "sha256"), Circuit("c", 0, "crc32")))
    assert re.findall(r"myri_circuit_(\w+) slot0_", text) == ["crc32", "sha256"]
    assert "assign slot0_crc32_here = images[8*0+:8] == 8'd1 || images[8*0+:8] == 8'd3;" in text
    assert "assign slot0_sha256_here = images[8*0+:8] == 8'd2;" in text


def test_more_circuits_than_the_tables_hold_are_rejected() -> None:
    many = [Circuit("a", 0, f"x{i}") for i in range(registers.CIRCUITS + 1)]
    with pytest.raises(ValueError, match="17 circuits; the card's tables hold 16"):
        fabric.names(many)
