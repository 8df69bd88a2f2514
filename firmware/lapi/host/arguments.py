"""Argument checks of calls. With `Senv(ERROR_CHK, 0)` they are not charged, but still raise (ours)."""

from __future__ import annotations

from firmware.lapi.host.calls import Rmw
from firmware.lapi.host.environment import MOST_DATA, Environment
from firmware.lapi.host.errors import Misuse
from firmware.lapi.host.header import MASK, MOST
from firmware.lapi.host.memory import Memory
from firmware.verbs import Host
from pymodels.host.faults import ProtectionFault

WORD = 4


def whole(name: str, value: object, least: int = -(1 << 31), most: int = (1 << 31) - 1) -> int:
    """Return an integer in a range. Raises Misuse."""
    if type(value) is not int or not least <= value <= most:
        raise Misuse(f"{name} {value!r}", f"not an integer in {least}..{most}", "give an integer in this range")
    return value


class Arguments:
    """Argument checks of one task's calls; all raise Misuse."""

    def __init__(self, tasks: int, memory: Memory, host: Host, settings: Environment) -> None:
        self._tasks, self._memory, self._host, self._settings = tasks, memory, host, settings

    async def begin(self, path: str, tgt: int) -> None:
        """Charge a sending call and its checks, and check the target task."""
        await self._host.spend(path)
        if self._settings.options.error_chk:
            await self._host.spend("lapi_check")
        if type(tgt) is not int or not 0 <= tgt < self._tasks:
            raise Misuse(f"tgt {tgt!r}", "unknown task", f"give 0 to {self._tasks - 1}")

    def data(self, name: str, address: int, length: int, write: bool = False) -> None:
        """Check a range of this task's memory."""
        whole("length", length, 0, MOST_DATA)
        if length:
            self._own(name, address, length, write, "give memory of this task's process")

    def _own(self, name: str, address: int, size: int, write: bool, remedy: str) -> None:
        whole(name, address, 0, MASK)
        try:
            self._memory.check(address, size, write)
        except ProtectionFault as fault:
            raise Misuse(f"{name} 0x{address:x}", f"0x{fault.address:x}: {fault.args[3]}", remedy) from None

    def remote(self, name: str, address: int, length: int) -> None:
        """Check that an address of the target is not null; the target checks the rest."""
        if whole(name, address, 0, MASK) == 0 and length:
            raise Misuse(f"{name} 0", "null address", "give an address of the target")

    def remote_word(self, name: str, address: int) -> None:
        """Check the address of a word of the target."""
        self.remote(name, address, WORD)
        self._aligned(name, address)

    @staticmethod
    def _aligned(name: str, address: int) -> None:
        if whole(name, address, 0, MASK) % WORD:
            raise Misuse(f"{name} 0x{address:x}", f"not a multiple of {WORD}", "give the address of a word")

    def user(self, uhdr: bytes, length: int) -> bytes:
        """Return the user header after checking type and length."""
        if not isinstance(uhdr, bytes | bytearray | memoryview):
            raise Misuse(f"uhdr {uhdr!r}", "not a bytes-like object", "give bytes")
        whole("uhdr_len", length, 0, MOST)
        if length > len(uhdr):
            raise Misuse(f"uhdr_len {length}", f"uhdr has {len(uhdr)} bytes", "give at most the length of uhdr")
        return bytes(uhdr[:length])

    def word(self, name: str, address: int) -> None:
        """Check the address of a word of this task; 0 is valid."""
        if address == 0 and type(address) is int:
            return
        self._aligned(name, address)
        self._own(name, address, WORD, True, "give a word of this task's process")

    def counters(self, **counters: int) -> None:
        """Check counter addresses: `tgt_cntr` is the target's, the others are this task's."""
        for name, address in counters.items():
            if name != "tgt_cntr":
                self.word(name, address)
            else:
                self._aligned(name, address)

    def counter(self, cntr: int) -> int:
        """Return the address of a counter, which must not be null."""
        self.remote("cntr", cntr, WORD)
        self.word("cntr", cntr)
        return cntr

    def operation(self, op: Rmw, values: object) -> tuple[Rmw, int, int]:
        """Return an `Rmw` operation and its two values."""
        if not isinstance(op, Rmw):
            raise Misuse(f"op {op!r}", "unknown operation", f"give one of {', '.join(Rmw.__members__)}")
        if op is not Rmw.COMPARE_AND_SWAP:
            return op, whole("in_val", values) & MASK, 0
        if not isinstance(values, tuple) or len(values) != 2:
            raise Misuse(f"in_val {values!r}", "COMPARE_AND_SWAP takes two values", "give (compared value, new value)")
        return op, whole("in_val", values[0]) & MASK, whole("in_val", values[1]) & MASK
