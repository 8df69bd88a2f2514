"""Connection to a board in the terms of its host: time, NICs, host memories, comparators, trace ring."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.board.identity import FIRST, WORDS, Identity
from pymodels.board.map import (
    RING_WORDS,
    Clock,
    ComparatorRegister,
    Compare,
    ControlRegister,
    NodeRegister,
    Region,
    TraceMode,
    address,
    comparator,
    control,
)
from pymodels.board.ring import lost, records
from pymodels.errors import SanlabError
from pymodels.kernel import Kernel
from tb.board.bridge import WORD, Bridge
from tb.board.timebase import Timebase
from tb.board.transport import LineError

CYCLES = (ControlRegister.BUS_CYCLE_LOW, ControlRegister.NIC_CYCLE_LOW, ControlRegister.LINK_CYCLE_LOW)
"""Registers of the latched counters, in the order of `Clock`: two words each, without gaps."""
PS = 10**12


class BoardResetError(SanlabError):
    """Board that was reset, configured again or replaced during a run."""


@dataclass(frozen=True)
class NodeState:
    """Registers of one node."""

    fault: int
    """Reason for which the processor has halted, 0 for none."""
    pc: int
    isr: int
    status: int
    """Bits of `pymodels.board.map.NodeStatus`."""


def periods_of(identity: Identity) -> dict[Clock, int]:
    """Return the nominal period of each clock of a board in ps."""
    rates = {Clock.BUS: identity.bus_hz, Clock.NIC: identity.nic_hz, Clock.LINK: identity.link_hz}
    return {clock: round(PS / hz) for clock, hz in rates.items()}


def identify(bridge: Bridge) -> Identity:
    """Return the identity of the board behind a connected bridge. Raises BoardIdentityError for another address map."""
    identity = Identity.read(bridge.read(FIRST, WORDS))
    bridge.verify()
    return identity


class BoardLink:
    """Board of one run.

    Args:
        bridge: Connected bridge.
        identity: Identity of the board.
        kernel: Event loop of the run, whose time follows the board's.
    """

    def __init__(self, bridge: Bridge, identity: Identity, kernel: Kernel) -> None:
        self.bridge, self.identity, self.kernel = bridge, identity, kernel
        self.timebase = Timebase(periods_of(identity))
        self._nonce = secrets.randbits(31) | 1
        self._marked = False
        """True once the board has the mark of this run."""
        self._used = False
        """True if the board was accessed after its time was read."""
        self._ring: list[NDArray[np.uint32]] = []
        self._taken = self._overwritten = 0
        self._ended = False

    @property
    def memory_bytes(self) -> int:
        """Bytes of each host's memory."""
        return 1 << self.identity.memory_log2

    # Begin and end.

    def start(self, trace: bool) -> None:
        """Reset all nodes and switches, empty the trace ring, and mark the board as used by this run."""
        self._set(ControlRegister.SCRATCH, self._nonce)
        self._set(ControlRegister.RESET, 1)
        for register in (ControlRegister.LINE_ERRORS, ControlRegister.LINE_TIMEOUTS, ControlRegister.BUS_ERRORS):
            self._set(register, 0)
        self._set(ControlRegister.TRACE_MODE, TraceMode.RECORD if trace else 0)
        self._set(ControlRegister.RESET, 0)
        self.read_time()
        self._marked = True

    def check(self) -> None:
        """Raise BoardResetError if the board has lost the mark of `start`."""
        if self.bridge.read(control(ControlRegister.SCRATCH))[0] != self._nonce:
            raise self._was_reset("its registers have lost their values")

    def finish(self) -> None:
        """End the run: take the rest of the trace, hold all nodes in reset, and verify all that was transferred."""
        self.check()
        self.drain()
        self._set(ControlRegister.RESET, 1)
        self.bridge.verify()
        self._ended = True

    def abandon(self) -> None:
        """End the run after a failure as far as the line permits. Without effect after `finish`."""
        if not self._ended:
            with suppress(SanlabError):
                self.finish()
        self._ended = True

    @contextmanager
    def raising_causes(self) -> Iterator[None]:
        """Raise the cause of a failure in place of the failure."""
        try:
            yield
        except Exception as error:
            cause = self.cause_of(error)
            if cause is error:
                raise
            raise cause from error

    def cause_of(self, failure: Exception) -> Exception:
        """Return the cause of a failure: a reset of the board, a failure of the line, or the failure itself.

        A damaged byte can look like any other failure, such as that of a halted processor, so the checksums are
        compared first. A reset restarts them, so its first symptom is often that of a damaged byte.
        """
        if not isinstance(failure, LineError):
            try:
                self.bridge.verify()
            except LineError as error:
                failure = error
        if not (self._marked and isinstance(failure, LineError)):
            return failure
        again = Bridge(self.bridge.port, self.bridge.patience_s)
        try:
            again.connect()
            mark = again.read(control(ControlRegister.SCRATCH))[0]
        except LineError:
            return failure
        return failure if mark == self._nonce else self._was_reset("its registers have lost their values")

    def bus_errors(self) -> int:
        """Return the number of accesses that nothing on the board has answered."""
        return self.bridge.read(control(ControlRegister.BUS_ERRORS))[0]

    def _set(self, register: ControlRegister, value: int) -> None:
        self.bridge.write(control(register), [value])

    def _was_reset(self, how: str) -> BoardResetError:
        what, cause = f"board at {self.bridge.port.name}", f"it was reset during the run ({how})"
        return BoardResetError(what, cause, "check its power, and run again")

    # Time.

    def read_time(self) -> int:
        """Latch all counters, let the kernel's time follow, and return it in ps.

        Raises BoardResetError if the time went backwards.
        """
        self._set(ControlRegister.LATCH, 1)
        words = self.bridge.read(control(CYCLES[0]), 2 * len(CYCLES))
        counts = {clock: words[2 * clock] | (words[2 * clock + 1] & 0xFFFF) << 32 for clock in Clock}
        now = self.timebase.sample(counts) | 1
        if now < self.kernel.now:
            raise self._was_reset(f"its time went back to {now / 1e6:.3f} us")
        self.kernel.now = now
        self._used = False
        return now

    def fresh_time(self) -> int:
        """Return the time of the board after the last access to it."""
        return self.read_time() if self._used else self.kernel.now

    # Nodes.

    def write_nic(self, node: int, offset: int, data: bytes) -> None:
        """Store whole words into the window of a NIC."""
        self.bridge.write(address(Region.NIC, offset, node), _words(data))
        self._used = True

    def read_nic(self, node: int, offset: int, size: int) -> bytes:
        """Return bytes of the window of a NIC; offset and size are multiples of 4."""
        self._used = True
        return _bytes(self.bridge.read(address(Region.NIC, offset, node), size // WORD))

    def memory(self, node: int) -> LinkedMemory:
        """Return the access to the memory of a host."""
        return LinkedMemory(self, node)

    def state(self, node: int) -> NodeState:
        """Return the registers of a node."""
        return NodeState(*self.bridge.read(address(Region.NODE, NodeRegister.FAULT, node), 4))

    # Comparators.

    def arm(self, node: int, number: int, at: int, value: bytes) -> None:
        """Let a comparator of a node wait until a word of host memory differs from a value."""
        first = comparator(number, ComparatorRegister.ADDRESS, node)
        self.bridge.write(first, [at, *_words(value), 0xFFFFFFFF, Compare.DIFFERENT])

    def wait(self, mask: int, limit_ps: int, extra_s: float) -> int:
        """Wait for a comparator of the mask, and return those that have matched.

        Args:
            mask: Bits of register WAIT_MASK.
            limit_ps: Longest wait on the board.
            extra_s: Seconds that this may take in addition to the patience of the line.
        """
        clocks = max(1, min(limit_ps // self.timebase.periods[Clock.BUS], 0xFFFFFFFF))
        self.bridge.write(control(ControlRegister.WAIT_MASK), [mask, clocks])
        self._used = True
        return self.bridge.read(control(ControlRegister.WAIT), 1, extra_s)[0] & mask

    # Trace.

    def written(self) -> int:
        """Return the number of records that the ring has received so far."""
        return self.bridge.read(control(ControlRegister.TRACE_WRITTEN))[0]

    def drain(self, least: int = 1) -> int:
        """Read the new records of the ring if there are `least` of them, and return the number of records so far."""
        written, size = self.written(), 1 << self.identity.ring_log2
        new = written - self._taken & 0xFFFFFFFF
        if new < least:
            return written
        if new > size:
            self._overwritten += new - size
            self._taken = written - size
        for first, count in _split(self._taken, written, size):
            at = address(Region.TRACE, first * RING_WORDS * WORD)
            self._ring.append(np.array(self.bridge.read(at, count * RING_WORDS), np.uint32))
        self._taken = written
        return written

    def trace(self) -> NDArray[np.void]:
        """Return the records of the board so far in the trace format, sorted by time."""
        if not self._ended:
            self.drain()
        words = np.concatenate([np.zeros(0, np.uint32), *self._ring])
        lines = {clock: self.timebase.line(clock) for clock in Clock}
        return records(words, {c: line[0] for c, line in lines.items()}, {c: line[1] for c, line in lines.items()})

    def trace_lost(self) -> int:
        """Return the number of records that the ring had no room for, at least."""
        return self._overwritten + sum(lost(words) for words in self._ring)


@dataclass(frozen=True)
class LinkedMemory:
    """Memory of one host, for `tb.board.memory`."""

    link: BoardLink
    node: int

    def load(self, at: int, size: int) -> bytes:
        """Return bytes of memory; address and size are multiples of 4."""
        return _bytes(self.link.bridge.read(address(Region.MEMORY, at, self.node), size // WORD))

    def store(self, at: int, data: bytes) -> None:
        """Write bytes to memory; address and size are multiples of 4."""
        self.link.bridge.write(address(Region.MEMORY, at, self.node), _words(data))


def _words(data: bytes) -> Sequence[int]:
    """Return bytes as words of the bridge: the byte at the lowest address is the lowest byte."""
    return struct.unpack(f"<{len(data) // WORD}I", data)


def _bytes(words: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _split(first: int, end: int, size: int) -> list[tuple[int, int]]:
    """Return places and numbers of consecutive records in a ring of `size` records."""
    at, count = first % size, end - first
    until_end = min(count, size - at)
    return [piece for piece in ((at, until_end), (0, count - until_end)) if piece[1]]
