"""Small messages between kernels: sends and receives of VI 0, from and to buffers of the kernel."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from firmware.host.via.common.waiting import Turn
from firmware.host.via.kernel_agent.rings.cache import Entry
from firmware.nic.via.layout import Control, Kind, State, Vi
from pymodels.formats.via import Field

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel

LETTER_BYTES = 64
PLACES = 16
"""Letters that may wait to be read, or to be sent."""
RECEIVED = 2


class Letters:
    """VI 0 of a NIC."""

    def __init__(self, kernel: Kernel, on_letter: Callable[[bytes], None]) -> None:
        self._kernel, self._on_letter = kernel, on_letter
        self._writing = Turn(kernel.host)
        stride = Field.SIZE + LETTER_BYTES
        base = kernel.host.allocate(2 * PLACES * stride).address
        self._out = [base + stride * i for i in range(PLACES)]
        self._in = [base + stride * (PLACES + i) for i in range(PLACES)]
        """Physical addresses of descriptors; the letter stands behind each."""
        self._next_out = self._next_in = 0
        self._read: deque[int] = deque()

    async def start(self) -> None:
        """Post the receives."""
        kernel = self._kernel
        await kernel.vis[0].set_state(State.CONNECTED)
        await kernel.write_vi(0, Vi.NOTIFY, RECEIVED)
        for at in self._in:
            await self._post(at)
        kernel.on_interrupt.append(self._look)

    async def send(self, node: int, data: bytes) -> None:
        """Send a letter to a node's kernel; waits until there is a place for it."""
        kernel, host = self._kernel, self._kernel.host
        async with self._writing:
            at = self._out[self._next_out]
            self._next_out = (self._next_out + 1) % PLACES
            while host.load_words(at, 1)[0] and not host.load_words(at + Field.STATUS, 1)[0]:
                await host.sleep(1_000_000, "a place for a letter")  # without the kernel's turn: the NIC may need it
            host.store_words(at, (1, 0, 0, 0, 0, 0, 0, 0))  # its first word: the place was used
            host.store_bytes(at + Field.SIZE, data)
            control = Control(Kind.SEND, False, False, 0, 1).word()
            words = (control, at, node << 16 | len(data))
            async with kernel.turn:
                kernel.posted(at, len(data))
                await kernel.sends.post(Entry(words, ((at + Field.SIZE, len(data)),)))

    async def _post(self, at: int) -> None:
        self._kernel.host.store_words(at + Field.LENGTH, (0, 0))
        words = (Control(Kind.RECEIVE, False, False, 0, 1).word(), at, LETTER_BYTES)
        await self._kernel.vis[0].receives.post(Entry(words, ((at + Field.SIZE, LETTER_BYTES),)))

    def _look(self) -> None:
        """Read the letters that have come, in their order, and post their places again."""
        host = self._kernel.host
        while host.load_words((at := self._in[self._next_in]) + Field.STATUS, 1)[0]:
            self._next_in = (self._next_in + 1) % PLACES
            self._on_letter(host.load_bytes(at + Field.SIZE, LETTER_BYTES))
            host.store_words(at + Field.LENGTH, (0, 0))
            self._read.append(at)
        if self._read:
            host.spawn(self._again(), "places for letters")

    async def _again(self) -> None:
        async with self._kernel.turn:
            while self._read:
                await self._post(self._read.popleft())
