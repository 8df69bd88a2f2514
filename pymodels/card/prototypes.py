"""Circuits of the FPGA card in Python, beside those in SystemVerilog: the same results, with clocks of their own.

`SET="fpga.circuits=python"` exchanges them. The circuit beside `myri_circuit_<name>` is the function of that name.
"""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from pymodels.card.slot import Slot

TAPS, BINS = 16, 256
BLOCK_BYTES = 64
BLOCK_CLOCKS = 64
"""User clocks of SHA-256 a block: one a round, during 16 of which the words of the next block cannot be accepted."""


async def loopback(slot: Slot) -> None:
    """Return each payload unchanged."""
    while True:
        header, _ = await slot.receive()
        await slot.send(header.payload)


async def crc32(slot: Slot) -> None:
    """Return the CRC-32 of IEEE 802.3 of each payload, least significant byte first."""
    while True:
        header, _ = await slot.receive()
        await slot.send([zlib.crc32(header.payload)])


async def sha256(slot: Slot) -> None:
    """Return the SHA-256 digest of each payload (FIPS 180-4)."""
    while True:
        header, _ = await slot.receive()
        await slot.clocks(BLOCK_CLOCKS * ((header.size + 8) // BLOCK_BYTES + 1))
        await slot.send(hashlib.sha256(header.payload).digest())


async def fir16(slot: Slot) -> None:
    """Filter signed 16-bit samples with 16 taps; argument 1 loads the Q15 coefficients and clears the delay line."""
    taps = np.zeros(TAPS, np.int64)
    line = np.zeros(TAPS - 1, np.int64)
    while True:
        header, words = await slot.receive()
        samples = words.view("<i2")[: header.size // 2].astype(np.int64)
        await slot.clocks(max(0, len(samples) - len(words)))
        if header.arguments[0] == 1:
            taps[: len(samples[:TAPS])] = samples[:TAPS]
            line[:] = 0
            await slot.send()
            continue
        past = np.concatenate([line, samples])
        line = past[len(past) - (TAPS - 1) :]
        sums = sum(taps[k] * past[TAPS - 1 - k : len(past) - k] for k in range(TAPS))
        await slot.send(np.clip(np.asarray(sums) >> 15, -32768, 32767).astype("<i2"))


async def histogram(slot: Slot) -> None:
    """Count byte values in the bank: argument 0 counts, 2 clears, another one returns the 256 counters."""
    while True:
        header, _ = await slot.receive()
        argument = header.arguments[0]
        if argument == 0:
            found = np.bincount(np.frombuffer(header.payload, np.uint8), minlength=BINS)
            values = np.flatnonzero(found)
            if len(values):
                first, last = int(values[0]), int(values[-1]) + 1
                counts = await slot.read(first, last - first)
                await slot.write(first, counts + found[first:last].astype(np.uint32))
            await slot.send()
        elif argument == 2:
            await slot.write(0, np.zeros(BINS, np.uint32))
            await slot.send()
        else:
            await slot.send(await slot.read(0, BINS))
