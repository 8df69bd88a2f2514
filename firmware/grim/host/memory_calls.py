"""Remote memory calls (paper 003, C.5): pinned memory, remote writes and reads, locks."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.grim.formats import CONTINUES, MAX_SEND, MORE, Device, MessageType
from firmware.grim.host.arguments import WORDS, octets, whole, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.channel_queue import Piece
from firmware.grim.host.driver import Driver
from firmware.grim.host.errors import GrimError
from firmware.grim.host.memory import PinnedMemory
from firmware.grim.host.messages import Messages
from firmware.grim.host.segments import Target
from firmware.grim.options import Options
from firmware.verbs import Host
from pymodels.card.registers import BANK_BYTES, BANKS


class RemoteMemory:
    """Calls of tables C.5 and C.6. Addresses are virtual and multiples of 4, except where stated otherwise."""

    def __init__(
        self, host: Host, options: Options, calls: Calls, messages: Messages, memory: PinnedMemory, driver: Driver
    ) -> None:
        self._host, self._options = host, options
        self._calls, self._messages, self._memory, self._driver = calls, messages, memory, driver

    # ---- pinned memory (C.5.1)

    async def malloc_pinned(self, size: int) -> int:
        """Return the virtual address of a new block of up to 4 MB, physically contiguous (`grim_malloc_pinned`)."""
        await self._calls.begin()
        return await self._memory.allocate(whole("number of bytes", size))

    async def pin_user_memory(self, size: int) -> int:
        """Return the virtual address of new user-space memory, its pages pinned (paper 000, 4.5.1)."""
        await self._calls.begin()
        return await self._memory.pin_user(whole("number of bytes", size))

    async def free_pinned_va(self, address: int) -> None:
        """Free a block of pinned memory of either kind (`grim_free_pinned_va`)."""
        await self._calls.begin()
        await self._memory.free(whole("pinned virtual address", address), self._driver.forget)

    def get_pinned_pa(self, address: int) -> int:
        """Return the physical address of a virtual address of pinned memory (`grim_get_pinned_pa`)."""
        self._calls.ready()
        return self._memory.pieces(whole("pinned virtual address", address), 1, "pinned virtual address")[0][0]

    def get_pinned_va(self, address: int) -> int:
        """Return the virtual address of a physical address of pinned memory (`grim_get_pinned_va`)."""
        self._calls.ready()
        return self._memory.va_of(whole("pinned physical address", address))

    def load_pinned(self, address: int, size: int) -> bytes:
        """Load bytes from pinned memory, as the application does."""
        self._calls.ready()
        if whole("number of bytes", size) < 0:
            raise GrimError("number of bytes", f"{size}", "give 0 or more")
        pieces = self._memory.pieces(whole("address", address), size, "address")
        return b"".join(self._host.load_bytes(*piece) for piece in pieces)

    def store_pinned(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to pinned memory, as the application does."""
        self._calls.ready()
        at, data = 0, octets("data", data)
        for pa, size in self._memory.pieces(whole("address", address), len(data), "address"):
            self._host.store_bytes(pa, data[at : at + size])
            at += size

    # ---- transfers (C.5.2)

    async def send_memory(
        self,
        destination: int,
        target: int,
        source: int,
        size: int,
        *,
        lock: int = 0,
        value: int = 0,
        channel: int = 0,
    ) -> None:
        """Write pinned memory to another host (`grim_sendMemory`). Returns when the source may be changed.

        Args:
            destination: Reference of the other host's endpoint.
            target: Virtual address at the destination.
            source: Virtual address in this host's pinned memory.
            size: Bytes.
            lock: Virtual address at the destination to which its NI writes `value` after the last byte; 0: none.
            value: Word for `lock`.
            channel: Channel of this host.

        Raises:
            GrimError: An argument is invalid, or an earlier message failed.
        """
        await self._store_there(MessageType.RM_V, destination, target, source, size, lock, value, channel)

    async def send_physical_memory(
        self,
        destination: int,
        target: int,
        source: int,
        size: int,
        *,
        lock: int = 0,
        value: int = 0,
        channel: int = 0,
    ) -> None:
        """Write pinned memory to a physical address of another host, without translation or check.

        `grim_sendPhysicalMemory`, with the arguments of `send_memory`.
        """
        await self._store_there(MessageType.RM_P, destination, target, source, size, lock, value, channel)

    async def fetch_memory(
        self, destination: int, target: int, source: int, size: int, *, lock: int = 0, channel: int = 0
    ) -> None:
        """Read memory of another host into pinned memory (`grim_fetchMemory`). Returns when the NI has the request.

        Args:
            destination: Reference of the other host's endpoint.
            target: Virtual address in this host's pinned memory.
            source: Virtual address at the destination.
            size: Bytes.
            lock: Virtual address in this host's pinned memory to which its NI writes 0 after the last byte; 0: none.
            channel: Channel of this host.

        Raises:
            GrimError: An argument is invalid, or an earlier message failed.
        """
        sending = self._calls.ready().sending
        where = self._checked(destination, channel, size, target=target, source=source, remote="source")
        self._memory.pieces(target, size, "target")
        if self._check_lock(lock):
            self._memory.pieces(lock, 4, "lock")
        if where.stream < 0:
            self._memory.pieces(source, size, "source")
            await self._copy_here(target, source, size, self._memory.pieces(lock, 4, "lock") if lock else (), 0)
            return
        most = self._options.segment_bytes
        number = sending.begin()

        def reads() -> Iterator[Piece]:
            for begin in range(0, size, most):
                part = min(most, size - begin)
                place, span = place_of(begin, part, size)
                arguments = source + begin, target + begin, 0 if place & MORE else lock, span
                w1, w2, w3 = where.words(MessageType.RM_RV, 0, part)
                yield Piece((w1 | place, w2, w3, *arguments), 0, b"", 0, where.stream, number)

        await sending.send(where, reads(), 0, remote=True)

    async def wait_for_lock(self, lock: int, value: int) -> None:
        """Poll until a lock has a value: `while (*lock != value) grim_poll();`, simulated without idle rounds."""
        messenger = await self._calls.begin()
        self._check_lock(lock, word("value", value))
        ((pa, _),) = self._memory.pieces(lock, 4, "lock")
        if self._host.load_words(pa, 1)[0] != value:
            self._calls.may_wait("wait_for_lock")
        await messenger.dispatch.wait_for(lambda: self._host.load_words(pa, 1)[0] == value, (pa,))

    async def _store_there(
        self, kind: int, destination: int, target: int, source: int, size: int, lock: int, value: int, channel: int
    ) -> None:
        sending = self._calls.ready().sending
        far = "" if kind == MessageType.RM_P else "target"
        where = self._checked(destination, channel, size, target=target, source=source, remote=far)
        self._memory.pieces(source, size, "source")
        self._check_lock(lock, value)
        if where.stream < 0:
            if kind == MessageType.RM_P:
                target = self._memory.va_of(target)
            self._memory.pieces(target, size, "target")
            await self._copy_here(target, source, size, self._memory.pieces(lock, 4, "lock") if lock else (), value)
            return
        pieces = self._writes(kind, where, target, source, size, (lock, value), sending.begin())
        await sending.send(where, pieces, size, in_memory=True, remote=True)

    def _writes(
        self, kind: int, where: Target, target: int, source: int, size: int, lock: tuple[int, int], number: int
    ) -> Iterator[Piece]:
        """Yield the messages of write number `number`, one for each segment; the first and the last carry the lock."""
        most = self._options.segment_bytes
        for begin in range(0, size, most):
            part = min(most, size - begin)
            pieces = self._memory.pieces(source + begin, part, "source")
            address = pieces[0][0] if len(pieces) == 1 else 0
            data = b"" if address else self.load_pinned(source + begin, part)
            place, span = place_of(begin, part, size)
            w1, w2, w3 = where.words(kind, part, 0)
            locks = (0, 0) if place == CONTINUES | MORE else lock
            yield Piece((w1 | place, w2, w3, target + begin, *locks, span), part, data, address, where.stream, number)

    def _checked(self, destination: int, channel: int, size: int, *, target: int, source: int, remote: str) -> Target:
        """Check the arguments that writes and reads share, and return the target. Raises GrimError.

        `remote` names the argument with a virtual address of the other node, which is an offset if that is a card.
        """
        if not 0 < whole("number of bytes", size) <= MAX_SEND:
            raise GrimError("number of bytes", f"{size}", f"give 1 to {MAX_SEND}")
        where = self._messages.target(destination, channel)
        for name, address in (("target", target), ("source", source)):
            if whole(name, address) % 4 or not 0 < address < WORDS:
                raise GrimError(name, f"invalid address {address:#x}", "give a multiple of 4 within 32 bits")
            at_card = name == remote and where.destination & 3 == Device.CELOXICA
            what, most = ("the card's banks", BANKS * BANK_BYTES) if at_card else ("32 bits", WORDS)
            if address + size > most:
                cause = f"{size} from {name} {address:#x} exceeds {what}"
                raise GrimError("number of bytes", cause, f"give a range within {what}")
        if size % 4 and where.stream >= 0 and not self._host.card.moves_bytes:
            raise GrimError(
                "number of bytes", f"{size}", "give a multiple of 4, because the host DMA of a LANai 4 moves words"
            )
        return where

    def _check_lock(self, lock: int, value: int = 0) -> int:
        """Return the address of a lock, 0 for none. Raises GrimError for an invalid address or value."""
        if whole("lock", lock) % 4 or not (0 <= lock < WORDS and 0 <= whole("lock", value) < WORDS):
            raise GrimError(
                "lock", f"invalid address {lock:#x} or value {value}", "give an aligned address and a value of 32 bits"
            )
        return lock

    async def _copy_here(
        self, target: int, source: int, size: int, lock: tuple[tuple[int, int], ...], value: int
    ) -> None:
        """Execute a transfer within this node by a CPU copy."""
        await self._host.spend("send_remote")
        await self._host.spend("copy_line", size + 31 >> 5)
        self.store_pinned(target, self.load_pinned(source, size))
        for pa, _ in lock:
            self._host.store_words(pa, (value,))


def place_of(begin: int, part: int, size: int) -> tuple[int, int]:
    """Return the flags in w1 and the span of a transfer's message with `part` bytes from offset `begin` on."""
    return bool(begin) * CONTINUES | (begin + part < size) * MORE, begin or size
