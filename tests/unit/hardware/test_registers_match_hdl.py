"""Equality of the register maps and the HDL packages generated from them.

Strategy: the package is generated again and compared with the committed file byte for byte. The map is checked for
rules that no generator checks: aligned offsets within the window, no two meanings of one place, and the fact sheet's
numbers.
"""

from __future__ import annotations

import pytest

from pymodels.nics.lanai4 import registers as lanai4
from pymodels.nics.lanai4.registers import Ebus, Error4, Isr4, Pci4, Reg4
from pymodels.nics.sp import registers as sp_adapter
from pymodels.nics.sp.registers import SpReg, fetch_command, read_command, store_command
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


def test_the_committed_package_of_lanai_4_is_what_its_map_generates() -> None:
    assert lanai4.PACKAGE.read_text(encoding="utf-8") == lanai4.package_text(), (
        "run `python -m pymodels.nics.lanai4.registers --sv`"
    )


def test_the_committed_package_of_the_sp_adapter_is_what_its_map_generates() -> None:
    assert sp_adapter.PACKAGE.read_text(encoding="utf-8") == sp_adapter.package_text(), (
        "run `python -m pymodels.nics.sp.registers --sv`"
    )


def test_registers_of_the_sp_adapter_are_aligned_and_distinct() -> None:
    offsets = [int(register) for register in SpReg]
    assert all(offset % 4 == 0 and offset < 0x200 for offset in offsets)
    assert len(set(offsets)) == len(SpReg.__members__)
    assert SpReg.SEND0 % 32 == SpReg.RECV0 % 32 == SpReg.READ0 % 128 == 0, "low bits select their words"


def test_commands_of_the_sp_adapter_reject_sizes_that_do_not_fit() -> None:
    assert fetch_command(4096) == 0x1000_1000 and read_command(128) == 0x5000_0080
    assert store_command(65535, packet=True) == 0x2000_FFFF and store_command(4, packet=False) == 4
    with pytest.raises(ValueError, match="bytes"):
        fetch_command(4097)
    with pytest.raises(ValueError, match="bytes"):
        read_command(129)
    with pytest.raises(ValueError, match="bytes"):
        store_command(65536, packet=True)


def test_every_constant_of_lanai_4_is_in_its_package() -> None:
    text = lanai4.package_text()
    for prefix, group in (("REG", Reg4), ("ISR", Isr4), ("CTL", Control), ("PCI", Pci4), ("ERR", Error4)):
        for name in group.__members__:
            assert f" {prefix}_{name} = " in text


def test_registers_of_lanai_4_are_aligned_and_distinct() -> None:
    offsets = [int(register) for register in Reg4]
    assert all(offset % 4 == 0 and offset < lanai4.Size4.REGISTERS for offset in offsets)
    assert len(set(offsets)) == len(Reg4.__members__)


def test_numbers_of_the_fact_sheet_for_lanai_4() -> None:
    """Sections 3.2 and 3.7: a sample of each group, typed again."""
    assert (Reg4.ISR, Reg4.EAR, Reg4.DMA_CTR, Reg4.SMLT, Reg4.DMA_DIR, Reg4.MYRINET) == (40, 60, 68, 88, 128, 140)
    assert (Isr4.RECV, Isr4.SEND, Isr4.DMA, Isr4.TIME, Isr4.OFF_BY_2, Isr4.HOST_SIG) == (1, 3, 4, 5, 9, 30)
    assert (Pci4.REGISTERS, Pci4.CONTROL, Pci4.SRAM_1MB) == (0xC0000, 0xE0000, 0x100000)


def test_registers_of_firmware_map_to_those_of_the_lanai_4() -> None:
    assert [lanai4.place(name) for name in (Reg.ISR, Reg.IT0, Reg.SMLT, Ebus.LAR)] == [
        Reg4.ISR, Reg4.IT, Reg4.SMLT, Reg4.LAR,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no register PULSE"):
        lanai4.place(Reg.PULSE)
    assert lanai4.bits_here(isr_mask(Isr.RECV, Isr.HEAD, Isr.TIME0, Isr.WAKE1)) == 0b110010


@pytest.mark.parametrize("register", [Reg4.SMLT, Reg4.RML, Reg4.ISR, Reg4.RMP])
def test_written_values_are_translated_back_when_read(register: Reg4) -> None:
    value = isr_mask(Isr.RECV, Isr.TIME0, Isr.ORUN2, Isr.HOST_SIG) if register is Reg4.ISR else 0x1230
    assert lanai4.shown(register, lanai4.written(register, value)) == value
    if register in (Reg4.SMLT, Reg4.RML):
        assert lanai4.written(register, value) == 0x122C, "the last word (fact sheet 3.5)"


def test_every_constant_is_in_the_package() -> None:
    text = package_text()
    for prefix, group in (("REG", Reg), ("ISR", Isr), ("CTL", Control), ("PCI", Pci), ("ERR", Error)):
        for name in group.__members__:
            assert f" {prefix}_{name} = " in text


def test_registers_are_aligned_and_distinct() -> None:
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
