"""CRC-8 step against the bitwise definition.

Strategy: the model divides bit by bit. Every register value is combined with random bytes, and register 0 with every
byte. Each of the 16 input bits therefore takes both values with all others random, which is complete because the
function is linear.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

from pymodels.link.crc8 import POLYNOMIAL, crc8


def bitwise(register: int, byte: int) -> int:
    for bit in range(7, -1, -1):
        top = register >> 7 ^ byte >> bit & 1
        register = register << 1 & 0xFF ^ (POLYNOMIAL if top else 0)
    return register


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_step_divides_by_the_polynomial(dut: Any) -> None:
    rng, settle = random.Random(cocotb.RANDOM_SEED), Timer(1, unit="ns")
    cases = [(0, byte) for byte in range(256)]
    cases += [(register, rng.randrange(256)) for register in range(256) for _ in range(4)]
    for register, byte in cases:
        dut.crc.value, dut.data.value = register, byte
        await settle
        assert int(dut.next.value) == bitwise(register, byte) == crc8(bytes([byte]), register)
