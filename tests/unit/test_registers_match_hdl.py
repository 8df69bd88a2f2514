"""The register map and the HDL package generated from it are one.

Strategy: the package is generated anew and compared with the committed file byte for byte; the map itself is
checked for what no generator can see: offsets on their grid and within the window, no two meanings for one place,
and the fact sheet's own numbers.
"""

from __future__ import annotations

import pytest

from pymodels.registers import (
    MYRINET_AFTER_RESET,
    PACKAGE,
    Block,
    Control,
    Error,
    Isr,
    Myrinet,
    Pci,
    Reg,
    Size,
    isr_mask,
    main,
    nres_clocks,
    package_text,
)


def test_the_committed_package_is_what_the_map_generates() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == package_text(), "run `python -m pymodels.registers --sv`"


def test_every_constant_is_in_the_package() -> None:
    text = package_text()
    for prefix, group in (("REG", Reg), ("ISR", Isr), ("CTL", Control), ("PCI", Pci), ("ERR", Error)):
        for name in group.__members__:
            assert f" {prefix}_{name} = " in text


def test_registers_stand_on_their_grid_and_alone() -> None:
    offsets = [int(register) for register in Reg]
    assert all(offset % 8 == 0 and offset < Size.REGISTERS for offset in offsets)
    assert len(set(offsets)) == len(Reg.__members__)


@pytest.mark.parametrize("bits", [Isr, Control, Error])
def test_bits_are_single_meanings_of_a_word(bits: type[Isr] | type[Control] | type[Error]) -> None:
    values = [int(bit) for bit in bits]
    assert all(0 <= value < 32 for value in values)
    assert len(set(values)) == len(bits.__members__)


def test_numbers_of_the_fact_sheet() -> None:
    """Sections 3.3, 3.6, 3.7: a sample of each group, typed again."""
    assert (Reg.ISR, Reg.RMP, Reg.SMLT, Reg.PULSE, Reg.MYRINET, Reg.CLOCK) == (0x50, 0xE0, 0x108, 0xB8, 0x130, 0x1F8)
    assert (Isr.RECV, Isr.SEND, Isr.WAKE0, Isr.ORUN4, Isr.HOST_SIG) == (1, 3, 12, 10, 30)
    assert (Pci.CONTROL, Pci.POINTERS, Pci.REGISTERS, Pci.DOORBELL) == (0x800040, 0x800100, 0x804000, 0x808000)
    assert (Block.LEN, Block.LAR, Block.EAL, Block.SIZE) == (8, 12, 20, 24)
    assert (Control.LANAI_RESET_OFF, Control.LANAI_RESET_ON, Control.TRIGGER0) == (31, 30, 20)
    assert isr_mask(Isr.RECV, Isr.RECV, Isr.HEAD) == 3
    assert MYRINET_AFTER_RESET == 1 << Myrinet.TX_CRC8_EN | 1 << Myrinet.RX_CRC8_EN | 1 << Myrinet.BEAT_EN


def test_network_time_out_codes() -> None:
    """Section 3.4: 1/16 s, 1/4 s, 1 s, 4 s."""
    assert [nres_clocks(code, 10) for code in range(4)] == [10, 40, 160, 640]
    with pytest.raises(ValueError, match="code 4"):
        nres_clocks(4, 10)


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--what"]) == 2
    assert "usage" in capsys.readouterr().err
    assert main([]) == 0
    assert capsys.readouterr().out == package_text()
