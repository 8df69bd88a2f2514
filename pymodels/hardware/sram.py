"""SRAM of a NIC behind an arbiter: its accesses, and a checker of their rules.

Accesses a clock and ranks of the requesters follow from paper 004, section 2.2. The other rules are those of the ports,
independent of RTL and simulator. A request is held until it is granted, and read data follow in the next clock. A read
returns the value before the writes of its clock. Port b wins where both ports write a byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

PORTS = "ab"
"""Names of the two ports of the memory."""


@dataclass(frozen=True)
class SramPorts:
    """Requesters of the SRAM of a kind of NIC."""

    requesters: tuple[str, ...]
    """Their names in order of rank, the highest first."""
    equal: int = 1
    """Number of requesters that share the highest rank and take turns."""

    def rank(self, requester: int) -> int:
        """Return the rank of a requester; 0 is the highest."""
        return max(requester - self.equal + 1, 0)


class PortAccess(NamedTuple):
    """Wires of a port of the memory in a clock with an access."""

    write: bool
    address: int
    """Byte address of the word."""
    enables: int
    """Enabled bytes of a write, one bit each."""
    data: int
    """Write data; byte i is in bits 8i to 8i+7."""


class SramSample(NamedTuple):
    """Wires of the SRAM and its arbiter in one clock. Sets of requesters have one bit each, bit 0 for the first."""

    ports: tuple[PortAccess | None, PortAccess | None]
    """Accesses of port a and port b."""
    requests: int
    granted: tuple[int, int]
    """Requesters that are granted on port a and on port b."""
    valid: int
    """Requesters that receive read data."""
    received: tuple[int, int]
    """Data of the first two of them."""
    read: tuple[int, int]
    """Read data of port a and port b, of the access before."""


@dataclass(frozen=True)
class SramAccess:
    """Access of one word. Clocks are those of the NIC from time 0; comparisons ignore them."""

    port: str
    """Port of the memory, `a` or `b`."""
    requester: str
    write: bool
    address: int
    """Byte address of the word."""
    data: bytes
    """Bytes of the word, from the lowest address on, also those that a write does not enable."""
    enables: int
    """Enabled bytes, one bit each; all for a read."""
    start: int = field(default=0, compare=False)
    """Clock of the request."""
    end: int = field(default=0, compare=False)
    """Clock of the grant of a write, or of the data of a read."""
    waits: int = field(default=0, compare=False)
    """Clocks from the request to the grant."""
    conflict: bool = field(default=False, compare=False)
    """True if the other port accesses the same word in the same clock, and one of them writes."""

    @property
    def enabled(self) -> bytes:
        """Bytes that are enabled."""
        return bytes(byte for lane, byte in enumerate(self.data) if self.enables >> lane & 1)


class _Read(NamedTuple):
    """Read that is granted, and whose data arrive in the next clock."""

    clock: int
    start: int
    requester: int
    port: int
    address: int
    conflict: bool
    expected: int | None
    """Bytes of the word as last seen on the ports; None if they are unknown."""


class SramRules:
    """Checker and decoder of the SRAM of one NIC, clock by clock.

    Args:
        ports: Requesters of the SRAM.
        accesses: Maximum number of accesses in a clock, 1 or 2.
        width: Bits of a word.
        exact: True if memory changes only by accesses of the ports, so that each read must return what was written.
        violated: Function that is called with the clock and the description of each violation.
    """

    def __init__(
        self, ports: SramPorts, accesses: int, width: int, exact: bool, violated: Callable[[int, str], None]
    ) -> None:
        self._ports, self._accesses, self._bytes = ports, accesses, width // 8
        self._exact, self._violated = exact, violated
        self._names = ports.requesters
        self._shared = (1 << ports.equal) - 1
        self._last_alone = 0  # requester of the shared rank that was granted alone last, one bit
        self._since: dict[int, int] = {}  # clock of the pending request of each requester
        self._reads: list[_Read] = []
        self._words: dict[int, int] = {}  # known words by address

    @property
    def idle(self) -> bool:
        """True if no request and no read is pending."""
        return not self._since and not self._reads

    def step(self, clock: int, sample: SramSample) -> list[SramAccess]:
        """Take the wires of a clock, and return the accesses that end with it.

        Clocks without requests and without read data may be left out.
        """
        done = self._arrive(clock, sample) if self._reads or sample.valid else []
        if sample.requests or self._since or any(sample.granted):
            self._arbitrate(clock, sample)
        if sample.ports != (None, None):
            done += self._access(clock, sample)
        elif any(sample.granted):
            self._violated(clock, "a grant without an access of its port")
        return done

    def _name(self, which: int) -> str:
        return ", ".join(name for n, name in enumerate(self._names) if which >> n & 1)

    def _arbitrate(self, clock: int, sample: SramSample) -> None:
        """Check the grants of a clock against its requests."""
        requests, granted = sample.requests, sample.granted[0] | sample.granted[1]
        waiting = requests & ~granted
        if granted & ~requests:
            self._violated(clock, f"grant of {self._name(granted & ~requests)} without a request")
        for requester in [one for one in self._since if not requests >> one & 1]:
            self._violated(clock, f"request of {self._names[requester]} ends without a grant")
            del self._since[requester]
        for requester in range(len(self._names)):
            if requests >> requester & 1:
                self._since.setdefault(requester, clock)
        if waiting and granted.bit_count() < self._accesses:
            self._violated(clock, f"{self._name(waiting)} waits while the memory has a free access")
        if waiting and granted:
            self._check_ranks(clock, waiting & -waiting, granted)
        self._take_turns(clock, requests, granted)

    def _check_ranks(self, clock: int, waiting: int, granted: int) -> None:
        """Check that no requester is granted before the waiting one, which has the highest rank of those that wait."""
        rank = self._ports.rank
        last = granted.bit_length() - 1
        if rank(last) > rank(waiting.bit_length() - 1):
            self._violated(clock, f"grant of {self._names[last]} before {self._name(waiting)}")

    def _take_turns(self, clock: int, requests: int, granted: int) -> None:
        """Check that requesters of the highest rank take turns."""
        shared = granted & self._shared
        if shared.bit_count() != 1:
            return
        if (requests & self._shared).bit_count() > 1 and shared == self._last_alone:
            self._violated(clock, f"{self._name(shared)} has two turns while {self._name(requests & ~granted)} waits")
        self._last_alone = shared

    def _access(self, clock: int, sample: SramSample) -> list[SramAccess]:
        """Take the accesses of both ports: reads return the old value, then writes take effect, port a first."""
        a, b = sample.ports
        if b is not None and self._accesses == 1:
            self._violated(clock, "two accesses in a clock, but the memory has one")
        meet = a is not None and b is not None and a.address == b.address and (a.write or b.write)
        done = list[SramAccess]()
        writes = list[PortAccess]()
        for port, access in enumerate(sample.ports):
            granted = sample.granted[port]
            if access is None:
                if granted:
                    self._violated(clock, f"grant on port {PORTS[port]} without an access")
                continue
            if granted.bit_count() != 1:
                self._violated(clock, f"port {PORTS[port]} serves {self._name(granted) or 'no requester'} in one clock")
                continue
            requester = granted.bit_length() - 1
            start = self._since.pop(requester, clock)
            if access.write:
                writes.append(access)
                done.append(self._written(clock, start, PORTS[port], self._names[requester], access, meet))
            else:
                known = self._words.get(access.address) if self._exact else None
                self._reads.append(_Read(clock, start, requester, port, access.address, meet, known))
        for access in writes:
            self._store(access)
        return done

    def _written(self, clock: int, start: int, port: str, name: str, access: PortAccess, meet: bool) -> SramAccess:
        data = (access.data & (1 << 8 * self._bytes) - 1).to_bytes(self._bytes, "little")
        enables = access.enables & (1 << self._bytes) - 1
        return SramAccess(port, name, True, access.address, data, enables, start, clock, clock - start, meet)

    def _store(self, access: PortAccess) -> None:
        """Write the enabled bytes of a known word, or of a word that becomes known."""
        if not self._exact:
            return
        whole = (1 << self._bytes) - 1
        old = self._words.get(access.address)
        if old is None and access.enables & whole != whole:
            return
        mask = sum(0xFF << 8 * lane for lane in range(self._bytes) if access.enables >> lane & 1)
        self._words[access.address] = (old or 0) & ~mask | access.data & mask

    def _arrive(self, clock: int, sample: SramSample) -> list[SramAccess]:
        """Check that the data of the reads of the clock before arrive, and return these reads."""
        reads, self._reads = sorted(self._reads, key=lambda read: read.requester), []
        owners = sum(1 << read.requester for read in reads)
        if sample.valid & ~owners:
            name = self._name(sample.valid & ~owners)
            self._violated(clock, f"{name} receives data without a read in the clock before")
            return []
        done = list[SramAccess]()
        at = 0
        for read in reads:
            name = self._names[read.requester]
            if read.clock != clock - 1 or not sample.valid >> read.requester & 1:
                self._violated(clock, f"{name} receives no data in the clock after its read")
                continue
            data = sample.received[at] if at < len(sample.received) else sample.read[read.port]
            at += 1
            if data != sample.read[read.port]:
                self._violated(clock, f"{name} receives other data than those of its port {PORTS[read.port]}")
            if read.expected is not None and sample.read[read.port] != read.expected:
                self._violated(
                    clock, f"word {read.address:#x} is read as {data:#x}, but {read.expected:#x} was written"
                )
            if self._exact:
                self._keep(read, data)
            word = (data & (1 << 8 * self._bytes) - 1).to_bytes(self._bytes, "little")
            enables, waits = (1 << self._bytes) - 1, read.clock - read.start
            done.append(
                SramAccess(
                    PORTS[read.port], name, False, read.address, word, enables, read.start, clock, waits, read.conflict
                )
            )
        return done

    def _keep(self, read: _Read, data: int) -> None:
        """Learn an unknown word from a read, unless it was written in the clock of the read."""
        if not read.conflict:
            self._words.setdefault(read.address, data)
