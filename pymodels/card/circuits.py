"""Reference models of the user circuits of the FPGA card: the result of each message, independent of the RTL.

A model is created when its circuit is configured, and holds the state that a reconfiguration discards. `run(argument,
payload)` returns the payload of the outgoing message for an incoming one; `argument` is the message's first argument.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TAPS = 16
BINS = 256


class Circuit(Protocol):
    """Configured circuit."""

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the payload of the result for one message."""


class Loopback:
    """Circuit that returns the payload unchanged."""

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the payload."""
        return payload


class Crc32:
    """CRC-32 of IEEE 802.3, least significant byte first."""

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the four bytes of the CRC."""
        return zlib.crc32(payload).to_bytes(4, "little")


class Sha256:
    """SHA-256 (FIPS 180-4)."""

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the 32 bytes of the digest."""
        return hashlib.sha256(payload).digest()


class Fir16:
    """FIR filter of 16 taps over little-endian signed 16-bit samples; argument 1 loads the Q15 coefficients."""

    def __init__(self) -> None:
        self.coefficients: NDArray[np.int64] = np.zeros(TAPS, np.int64)
        self.line: NDArray[np.int64] = np.zeros(TAPS - 1, np.int64)
        """Samples before the next one, latest last."""

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the filtered samples; nothing for argument 1."""
        samples = np.frombuffer(payload[: len(payload) & ~1], "<i2").astype(np.int64)
        if argument == 1:
            given = samples[:TAPS]
            self.coefficients[: len(given)] = given
            self.line[:] = 0
            return b""
        if not len(samples):
            return b""
        together = np.concatenate([self.line, samples])
        self.line = together[-(TAPS - 1) :]
        sums = np.convolve(together, self.coefficients, "valid") >> 15
        return bytes(np.clip(sums, -32768, 32767).astype("<i2").tobytes())


class Histogram:
    """Counts of byte values; argument 0 counts, 1 gives the 256 counters (little-endian words), 2 clears."""

    def __init__(self) -> None:
        self.counts: NDArray[np.uint32] = np.zeros(BINS, np.uint32)

    def run(self, argument: int, payload: bytes) -> bytes:
        """Return the 1 KB of counters for argument 1, otherwise nothing."""
        if argument == 0:
            self.counts += np.bincount(np.frombuffer(payload, np.uint8), minlength=BINS).astype(np.uint32)
            return b""
        if argument == 2:
            self.counts[:] = 0
            return b""
        return self.counts.astype("<u4").tobytes()


CIRCUITS: dict[str, Callable[[], Circuit]] = {
    "loopback": Loopback,
    "crc32": Crc32,
    "fir16": Fir16,
    "sha256": Sha256,
    "histogram": Histogram,
}
"""Models by name of the circuit; the RTL of circuit `x` is the module `myri_circuit_x`."""
