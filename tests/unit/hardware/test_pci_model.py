"""PCI timing model and transactions: hand-counted cases from the protocol.

Strategy: the model must give the clocks of short bursts counted by hand (address phase, decode, wait states, data). The
decoded bytes of a transaction must follow the byte enables.
"""

from __future__ import annotations

import pytest

from pymodels.pci.pci import (
    Command,
    Phase,
    TargetTiming,
    Termination,
    Transaction,
    idsel_address,
    read_clocks,
    transaction_clocks,
    write_clocks_per_word,
)


@pytest.mark.parametrize(
    ("timing", "phases", "clocks"),
    [
        (TargetTiming(), 1, 3),  # address, decode, data
        (TargetTiming(devsel=2), 1, 4),
        (TargetTiming(initial=6), 1, 9),
        (TargetTiming(), 8, 10),  # a data phase a clock
        (TargetTiming(subsequent=1), 4, 9),  # 3 + 3 x 2
    ],
)
def test_a_write_transaction_has_the_clocks_counted_by_hand(timing: TargetTiming, phases: int, clocks: int) -> None:
    assert transaction_clocks(timing, phases) == clocks


def test_late_read_data_count_like_wait_states() -> None:
    assert transaction_clocks(TargetTiming(initial=2), data_delay=5) == transaction_clocks(TargetTiming(initial=5))


def test_table_2_1_values_follow_from_whole_clocks() -> None:
    assert write_clocks_per_word(TargetTiming(), post_depth=1) == 5
    assert write_clocks_per_word(TargetTiming(initial=6), post_depth=1) == 11
    assert write_clocks_per_word(TargetTiming(), post_depth=2) == 4
    assert read_clocks(TargetTiming(initial=10), 3, start_delay=2, read_return=11) + 1 == 29
    assert read_clocks(TargetTiming(initial=7), 3, read_return=3) + 1 == 16


def test_bytes_moved_follow_the_enables() -> None:
    phases = (Phase(0x1000, 0x8877665544332211, 0b11110000), Phase(0x1008, 0xAABB, 0b00000001))
    transaction = Transaction(Command.MEMORY_WRITE, 0x1000, True, 0, phases, Termination.COMPLETION)
    assert transaction.bytes_moved() == [(0x1004, 0x55), (0x1005, 0x66), (0x1006, 0x77), (0x1007, 0x88), (0x1008, 0xBB)]


def test_time_stamps_are_ignored_in_comparisons() -> None:
    one = Transaction(Command.MEMORY_READ, 0, False, 1, (), Termination.RETRY, start=5, clocks=3)
    assert one == Transaction(Command.MEMORY_READ, 0, False, 1, (), Termination.RETRY, start=9, clocks=4)


def test_idsel_is_one_hot_above_bit_16() -> None:
    assert idsel_address(0, 0x10) == 0x10010
    assert idsel_address(3, 0x3C) == 0x8003C
