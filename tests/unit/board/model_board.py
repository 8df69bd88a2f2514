"""Model of a board behind a pseudo-terminal: the bridge's protocol over a pure-Python cluster that executes C firmware.

For tests of the host side without a compiler. Time advances by a fixed step for each command, and to the next match or
the limit when the host reads WAIT.
"""

from __future__ import annotations

import os
import select
import struct
import threading
import tty
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from firmware.common.host.card import HOLD
from firmware.images import cores
from pymodels.board.bone import HEADER_BYTES, READ, WRITE
from pymodels.board.identity import Identity
from pymodels.board.map import (
    COMPARATOR_BASE,
    COMPARATOR_BYTES,
    COMPARATORS,
    RING_WORDS,
    UNANSWERED,
    Clock,
    ComparatorRegister,
    ControlRegister,
    NodeRegister,
    Region,
    Top,
)
from pymodels.cards import SLOT
from pymodels.lanai.program import Program
from pymodels.machine import Machine, MachineError
from pymodels.machine.executed import boots

STEP_PS = 3_000_000
"""Time of the board for a command: 3 us."""
IDENTITY = Identity(
    Top.PAIR, 2, 4, True, 17, 14, 9, COMPARATORS, "0123456789abcdef" * 2, 33_333_333, 33_333_333, 160_000_000,
    1_000_000, 4096,
)  # fmt: skip
NO_SYMBOLS = Program(0, 0, b"", 0, 0, {}, ())
WAIT_STEP_PS = 1_000_000


class ModelBoard:
    """Registers, memories and NICs of a board; `execute` takes a command and returns its reply."""

    def __init__(self, identity: Identity = IDENTITY) -> None:
        self.identity = identity
        self.registers: dict[int, int] = {}
        self.power_up()

    def power_up(self) -> None:
        """Set everything to its state after power-up, as a reset button does."""
        self.registers = dict(zip(range(0, 4 * len(self.identity.words()), 4), self.identity.words(), strict=True))
        self.registers |= {ControlRegister.SCRATCH: 0, ControlRegister.RESET: 1}
        self.sums = [0, 0]
        self._restart()

    def _restart(self) -> None:
        sram_bytes, host_bytes = 1 << self.identity.sram_log2, 1 << self.identity.memory_log2
        nodes = self.identity.nodes
        self.machine = machine = Machine(nodes, nic="lanai4", sram_bytes=sram_bytes, host_bytes=host_bytes)
        self.armed: dict[tuple[int, int], int] = {}
        for node, nic in enumerate(machine.nics):
            nic.connect(machine.host(node).memory, lambda address, size: None)
            boots(machine.nic(node), NO_SYMBOLS, cores()["lanai4"].chip)
            machine.nic(node).card.write(self._offset(node, machine.host(node).card.control), HOLD.to_bytes(4, "big"))
        self.begun = 0

    def _offset(self, node: int, address: int) -> int:
        return self.machine.host(node).card.offset(address, 1 << self.identity.sram_log2)

    def advance(self, ps: int) -> None:
        """Let time pass."""
        with suppress(MachineError):
            self.machine.run((self.machine.kernel.now + ps) / 1e6)

    def execute(self, command: bytes) -> bytes:
        """Execute a command of the bridge."""
        kind, count, word = struct.unpack_from(">BBI", command)
        self.sums[0] = zlib.crc32(command, self.sums[0])
        at = 4 * word
        if kind == WRITE:
            for i, value in enumerate(struct.unpack_from(f">{count}I", command, HEADER_BYTES)):
                self.write(at + 4 * i, value)
        self.advance(STEP_PS)
        if kind == WRITE:
            return b""
        reply = struct.pack(f">{count}I", *[self.read(at + 4 * i) for i in range(count)])
        self.sums[1] = zlib.crc32(reply, self.sums[1])
        return reply

    def write(self, at: int, value: int) -> None:
        """Write a word."""
        region, node, offset = at >> 28, at >> 24 & 15, at & 0xFFFFFF
        data = value.to_bytes(4, "little")
        if region == Region.CONTROL:
            self.registers[offset] = value
            if offset == ControlRegister.RESET and value:
                self._restart()
            elif offset == ControlRegister.TRACE_MODE:
                self.begun = len(self.machine.trace.records)
        elif node >= self.identity.nodes or (region == Region.MEMORY and offset >= 1 << self.identity.memory_log2):
            pass
        elif region == Region.MEMORY:
            self.machine.host(node).memory.write(offset, data)
        elif region == Region.NODE:
            self._compare(node, *divmod(offset - COMPARATOR_BASE, COMPARATOR_BYTES), value)
        elif region == Region.NIC:
            self.machine.nic(node).card.write(self._offset(node, SLOT + offset), data)

    def _compare(self, node: int, number: int, register: int, value: int) -> None:
        self.armed[node << 8 | number, register] = value
        if register == ComparatorRegister.MODE:
            self.armed[node << 8 | number, ComparatorRegister.HIT] = 0

    def matched(self) -> int:
        """Return the comparators that have matched."""
        found = 0
        for node in range(self.identity.nodes):
            for number in range(COMPARATORS):
                key = node << 8 | number
                if not self.armed.get((key, ComparatorRegister.MODE)):
                    continue
                at, value, mask = (self.armed[key, register] for register in (0, 4, 8))
                word = int.from_bytes(self.machine.host(node).memory.read(at, 4), "little")
                if (word ^ value) & mask:
                    self.armed[key, ComparatorRegister.HIT] = 1
                found |= self.armed[key, ComparatorRegister.HIT] << COMPARATORS * node + number
        return found

    def read(self, at: int) -> int:
        """Return a word."""
        region, node, offset = at >> 28, at >> 24 & 15, at & 0xFFFFFF
        if region == Region.CONTROL:
            return self._control(offset)
        if node >= self.identity.nodes or (region == Region.MEMORY and offset >= 1 << self.identity.memory_log2):
            return UNANSWERED
        if region == Region.MEMORY:
            return int.from_bytes(self.machine.host(node).memory.read(offset, 4), "little")
        if region == Region.NIC:
            value = self.machine.nic(node).card.read(self._offset(node, SLOT + offset))
            return int.from_bytes(value.to_bytes(4, "big"), "little")
        if region == Region.TRACE:
            return self._ring(*divmod(offset // 4, RING_WORDS))
        if region == Region.NODE and offset <= NodeRegister.STATUS:
            return 0
        return UNANSWERED

    def _control(self, offset: int) -> int:
        if offset in (ControlRegister.LINE_CHECK, ControlRegister.REPLY_CHECK):
            value, self.sums[offset // 4 & 1] = self.sums[offset // 4 & 1], 0
            return value
        if offset == ControlRegister.WAIT:
            return self._wait()
        if offset == ControlRegister.TRACE_WRITTEN:
            return len(self._records())
        clock, high = divmod(offset - ControlRegister.BUS_CYCLE_LOW, 8)
        if 0 <= clock <= Clock.LINK:
            rate = (self.identity.bus_hz, self.identity.nic_hz, self.identity.link_hz)[clock]
            return self.machine.kernel.now // round(1e12 / rate) >> 8 * high & 0xFFFFFFFF
        return self.registers.get(offset, 0)

    def _wait(self) -> int:
        mask, limit = (self.registers[one] for one in (ControlRegister.WAIT_MASK, ControlRegister.WAIT_LIMIT))
        until = self.machine.kernel.now + limit * round(1e12 / self.identity.bus_hz)
        while not (found := self.matched() & mask) and self.machine.kernel.now < until:
            self.advance(min(WAIT_STEP_PS, until - self.machine.kernel.now))
        return found

    def _records(self) -> list[tuple[int, ...]]:
        hardware = [one for one in self.machine.trace.records[self.begun :] if one[2] >= 0x100]
        return sorted(hardware, key=lambda one: one[0])

    def _ring(self, place: int, word: int) -> int:
        records, size = self._records(), 1 << self.identity.ring_log2
        number = place + max(0, (len(records) - 1 - place) // size) * size
        time, unit, event, packet, argument, argument2, _ = records[number]
        cycle = time // round(1e12 / self.identity.nic_hz)
        words = (cycle & 0xFFFFFFFF, event << 16 | cycle >> 32, Clock.NIC << 20 | unit, packet, argument, argument2)
        return (*words, 0, 0)[word] & 0xFFFFFFFF


class Behind:
    """Pseudo-terminal with a board behind it, served by a thread until `close`.

    Args:
        board: Function of the bytes of a command that returns the reply.
        damage: Function of each byte from the host that returns the bytes that arrive.
    """

    def __init__(self, board: Callable[[bytes], bytes], damage: Callable[[bytes], bytes] = bytes) -> None:
        self._board, self.damage = board, damage
        self.reply: Callable[[bytes], bytes] = bytes
        """Function of each reply that returns the bytes that leave."""
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._end, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        """Close the board's side of the line, as a pulled plug does."""
        self.close()

    def close(self) -> None:
        """End the thread and close the port."""
        if self._thread.is_alive():
            os.write(self._stop, b"x")
            self._thread.join()
        for one in (self._master, self._slave, self._end, self._stop):
            with suppress(OSError):
                os.close(one)
        self._master = self._slave = self._end = self._stop = -1

    def _serve(self) -> None:
        heard = b""
        while True:
            ready = select.select([self._master, self._end], [], [], 0.3 if heard else None)[0]
            if self._end in ready:
                return
            if not ready:
                heard = b""  # the bridge's inactivity time-out
                continue
            heard += self.damage(os.read(self._master, 4096))
            heard = self._commands(heard)

    def _commands(self, heard: bytes) -> bytes:
        """Execute the whole commands, and return the rest."""
        while heard:
            if heard[0] not in (READ, WRITE):
                heard = heard[1:]
                continue
            size = HEADER_BYTES + (4 * heard[1] if len(heard) > 1 and heard[0] == WRITE else 0)
            if len(heard) < size:
                return heard
            reply = self.reply(self._board(heard[:size]))
            if reply:
                os.write(self._master, reply)
            heard = heard[size:]
        return b""


def silent(command: bytes) -> bytes:
    """Return no reply, as a port without a board."""
    return b""


def constant(reply: bytes, command: bytes) -> bytes:
    """Return the same bytes for every command, as another device."""
    return reply


other_device = partial(constant, b"OK\r\n")
