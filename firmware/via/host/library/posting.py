"""Posting of descriptors: through the kernel, or by the process in its pages of the NIC's memory.

Sources: paper 001, 2.2.1 and 2.2.2; `firmware/via/nic/user_descriptors.py`.
"""

from __future__ import annotations

import struct
from typing import Protocol

from firmware.via.formats import Control, Field, Segment
from firmware.via.host.common.cache_words import words_of
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import SENT
from firmware.via.host.kernel_agent.vis.table import KernelVi
from firmware.via.host.library.descriptor import Descriptor
from firmware.via.host.library.open_nic import OpenNic
from firmware.via.nic.layout import State
from firmware.via.nic.user_pages import (
    BELL_RECEIVE,
    BELL_SEND,
    HANDLE_SHIFT,
    HANDLES,
    IN_PLACE,
    NEW_HANDLE,
    POINTER,
    Pair,
    queues_of,
)
from pymodels.host import ProtectionFault, Sig

MASK = 0xFFFFFFFF
LONGEST = 128
"""Maximum size in words of a descriptor that is written into the queue cache. The NIC fetches longer ones."""

MOST_POINTERS = 256
"""Number of descriptors of a queue that always have room (paper 001, 3.2.1)."""
LOOKS, PAUSE = 100, 300
"""Number of polls of a full send queue cache at full rate, and loop turns between later polls, which spare the bus."""
PATIENCE_PS = 100_000_000_000
"""Time without progress, in ps, after which a queue cache counts as stuck by the process's own writes.

Not from the paper. Messages of other VIs may be sent first, the longest in some 3 ms.
"""


class Poster(Protocol):
    """Posting of one work queue's descriptors."""

    async def post(self, descriptor: Descriptor, ahead: int) -> None:
        """Give a descriptor to the NIC. `ahead` is the number of posted descriptors that are not taken back."""


class ByKernel:
    """Posting through the kernel, which checks, translates and writes descriptors."""

    def __init__(self, vi: KernelVi, side: int) -> None:
        self._vi, self._side = vi, side

    async def post(self, descriptor: Descriptor, ahead: int) -> None:
        """Post by a system call. Signals are delivered after its return."""
        process = self._vi.context.owner
        with process.signals.masking(frozenset(Sig)):
            await process.syscall()
            await self._vi.posting.post(self._side, descriptor.va, descriptor.handle)


class ByProcess:
    """Posting by the process: it writes the descriptor, or a pointer to it, into its queue cache, and rings the
    doorbell.
    """

    def __init__(self, nic: OpenNic, vi: KernelVi, side: int) -> None:
        self._vi, self._host, self._process = vi.context, nic.host, nic.process
        self._options = options = nic.options
        self._note = vi.posting.note
        sends = side == SENT
        self._sends = sends
        queues = queues_of(options)
        offset, self._size = queues.sends if sends else queues.receives
        self.ring, self.pair = vi.pages.page + offset, vi.pages.pair
        self._tail_at = self.pair + (Pair.SEND_TAIL if sends else Pair.RECEIVE_TAIL)
        self._head_at = self.pair + (Pair.SEND_HEAD if sends else Pair.RECEIVE_HEAD)
        rings = vi.pages.bell and (sends or options.reads_ahead)
        self._bell = vi.pages.bell + (BELL_SEND if sends else BELL_RECEIVE) if rings else 0
        self._tail = self._head = self._oldest = 0
        self._stuck_at: int | None = None
        """NIC's position at the last stuck wait, where later posts do not wait again."""
        self._handles: list[int] = []
        """Memory handles that the NIC knows by number, so that a pointer takes one word."""

    async def post(self, descriptor: Descriptor, ahead: int) -> None:
        """Write the descriptor's words, then the tail or the doorbell."""
        if not ahead:
            self._head = self._tail
        words = await self._words(descriptor, ahead)
        await self._wait_for_room(len(words))
        first = self._tail % self._size
        part = min(len(words), self._size - first)
        await self._write(self.ring + 4 * first, words[:part])
        if part < len(words):
            await self._write(self.ring, words[part:])
        self._tail = self._tail + len(words) & MASK
        if not (self._bell and self._sends):
            await self._write(self._tail_at, (self._tail,))
        if self._bell:
            await self._write(self._bell, (self._tail,))
        if self._sends:
            self._note()
        elif self._vi.state is State.ERROR:  # no message can arrive for it
            await self._process.syscall()
            await self._vi.flush()

    async def _words(self, descriptor: Descriptor, ahead: int) -> tuple[int, ...]:
        """Return the words for the queue cache: the descriptor, or a pointer to it.

        A pointer is used where the descriptor would take room that the further outstanding descriptors need.
        """
        process, va = self._process, descriptor.va
        image = process.load_words(va, Field.SIZE // 4)
        count, flags = divmod(image[Field.CONTROL // 4], 1 << 16)
        length = (Field.SIZE + Segment.SIZE * count) // 4
        if not self._options.written or length > LONGEST or not await self._leaves_room(length, ahead):
            await process.spend("post_pointer")
            return self._pointer(va, descriptor.handle)
        await process.spend("post_image")
        data = self._inline_data(va, count, flags)
        if data is not None:
            control = len(data) << 16 | flags | IN_PLACE
            return (va, descriptor.handle, 0, control, *image[4:8], *words_of(data))
        await process.spend("post_image_segment", count)
        return (va, descriptor.handle, *image[2:8], *process.load_words(va + Field.SIZE, length - Field.SIZE // 4))

    def _pointer(self, va: int, handle: int) -> tuple[int, ...]:
        """Return the pointer to a descriptor, with the handle unless the NIC knows it."""
        if handle in self._handles:
            return (va | POINTER | self._handles.index(handle) << HANDLE_SHIFT,)
        if len(self._handles) < HANDLES:
            self._handles.append(handle)
        else:
            self._handles[self._oldest] = handle
            self._oldest = (self._oldest + 1) % HANDLES
        return va | POINTER | NEW_HANDLE | self._handles.index(handle) << HANDLE_SHIFT, handle

    async def _leaves_room(self, words: int, ahead: int) -> bool:
        """Return True if the words leave room for all further descriptors that may become outstanding."""
        alone = self._sends and self._options.doorbell == "d1_word"
        further = min(self._options.outstanding, MOST_POINTERS) - ahead - 1
        spare = 0 if alone else further + HANDLES - len(self._handles)
        if self._used + words + spare > self._size:
            await self._read_head()
        return self._used + words + spare <= self._size

    async def _read_head(self) -> None:
        """Read the NIC's position in the queue cache."""
        await self._process.spend("look_room")
        self._head = await self._process.pio_read(self._head_at)

    def _inline_data(self, va: int, count: int, flags: int) -> bytes | None:
        """Return the bytes of a message that is short enough for the queue cache, or None."""
        if not self._sends or flags & Control.OPERATION or not count:
            return None
        parts = struct.iter_unpack(">4I", self._process.load_bytes(va + Field.SIZE, Segment.SIZE * count))
        segments = [(at, size) for at, _, _, size in parts]
        if not 0 < sum(size for _, size in segments) <= self._options.inline:
            return None
        try:
            return b"".join(self._process.load_bytes(at, size) for at, size in segments)
        except ProtectionFault:
            return None  # the NIC reports the error

    async def _wait_for_room(self, words: int) -> None:
        """Wait until the queue cache has room. Raises VipError if it does not get any.

        With a doorbell of one word, wait until the NIC has taken the previous descriptor. A full receive queue is not
        waited for, because it empties only when messages arrive.
        """
        alone = self._sends and self._options.doorbell == "d1_word"
        most = 0 if alone else self._size - words
        if self._used <= most:
            return
        patience, looks = PATIENCE_PS if self._sends and self._head != self._stuck_at else 0, 0
        end = self._host.now + patience
        while self._used > most:
            before = self._head
            await self._process.give_way()
            await self._read_head()
            looks += 1
            if self._head != before:
                end = self._host.now + patience
            elif self._used > self._size or self._host.now >= end:
                break
            elif looks > LOOKS:
                await self._process.spend("look_room", PAUSE)
        if self._used > most:
            self._stuck_at = self._head if self._sends else None
            what = f"posting to VI {self._vi.number}, whose queue cache is full"
            raise VipError(Result.ERROR_RESOURCE, what, "post fewer at a time, and do not write to the page")

    @property
    def _used(self) -> int:
        return self._tail - self._head & MASK

    async def _write(self, address: int, words: tuple[int, ...]) -> None:
        combine = bool(self._options.write_combine) and len(words) > 1
        await self._process.pio_write(address, struct.pack(f">{len(words)}I", *words), combine)


def poster_of(nic: OpenNic, vi: KernelVi, side: int) -> Poster:
    """Return the posting of a work queue, as the options require."""
    return ByProcess(nic, vi, side) if nic.options.user_level else ByKernel(vi, side)
