"""Timers that count edges equal those that compute with the index of the edge, at every edge of a clock that runs.

Strategy: both forms get the same random writes, BEATs, and ratios of ticks to clocks. Bits of `differ` say which value
is not equal; it is read after every edge. The absolute form is checked against a model of RTC by itself.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

from pymodels.settings import LINK
from tb.agents.settings import SettingsPort, drive

STEP = Timer(1, unit="ns")
RATIOS = [(1, 1), (2, 2), (1, 2), (2, 33), (1, 16), (2, 133), (3, 7), (999, 1000), (16, 65535)]


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(ratio=RATIOS, period=[0, 1, 2, 5, 60, 1000])
async def counted_timers_equal_computed_ones(dut: Any, ratio: tuple[int, int], period: int) -> None:
    rng = random.Random(cocotb.RANDOM_SEED + 97 * period + ratio[1])
    dut.clk.value, dut.rst.value = 0, 1
    dut.cfg_num.value, dut.cfg_den.value = ratio
    drive(dut, {"period": period, "cfg_beat_period": period}, [SettingsPort(dut.cfg, LINK)])
    base, strobes = 0, 0
    for index in range(2000):
        dut.rst.value = int(index < 2)
        quiet = index < 2 or rng.random() < 0.9
        dut.w_rtc.value = int(not quiet and rng.random() < 0.2)
        dut.w_it.value = 0 if quiet else rng.randrange(8)
        dut.w_data.value = rng.choice([0, 1, 2, rng.randrange(40), 0xFFFFFFFF, rng.randrange(1 << 32)])
        dut.got_beat.value = int(index >= 2 and rng.random() < rng.choice([0.0, 0.02, 0.5]))
        await STEP
        if index >= 2:
            assert not int(dut.differ.value), f"edge {index - 1}: differ = {dut.differ.value}"
            ticks = (index - 1) * ratio[0] // ratio[1]
            assert int(dut.rtc.value) == (ticks + base) % (1 << 32)
            if int(dut.w_rtc.value):
                base = int(dut.w_data.value) - ticks
            strobes += int(dut.expired.value) != 0
        dut.clk.value = 1
        await STEP
        dut.clk.value = 0
    assert strobes or ratio[1] > 100 * ratio[0]
