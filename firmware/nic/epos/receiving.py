"""The receiving side of the NIC: frames of the Receive Ring go into the staging slots of host memory, and the host is
told by the Rx FIFO Queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from firmware.nic.epos.layout import CONTROL, DATA, LAP, RX_CHAIN, Place, Told, Word
from firmware.nic.epos.pointcuts import Hooks
from firmware.nic.hardware import BlockRing, HostDma
from firmware.verbs import Nic
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

RECV = 1 << Isr.RECV | 1 << Isr.HEAD
NONE = -1
STORED, PASSED, MIRRORED = range(3)
"""What an end of a block means: a frame is in host memory; nothing; the host's entry is there."""


Controls = Sequence[Callable[[int, int, int], Awaitable[None]]]
"""Of protocols whose NICs tell each other something: takes the source, the kind and the word of a control frame."""


@dataclass
class In:
    """A frame of the Receive Ring."""

    buffer: int
    at: int
    key: int
    number: int
    told: Told
    address: int = 0
    """Where it goes in host memory."""
    count: int = 0
    """Of a reliable composition: the frame's number."""
    entry: int = 0
    """Its place in the Rx FIFO Queue, and the word there."""
    word: int = 0


class Receiver:
    """Receive Ring, Rx DMA Requests and Rx FIFO Queue."""

    def __init__(self, nic: Nic, place: Place, dma: HostDma, hooks: Hooks, controls: Controls) -> None:
        self._nic, self._place = nic, place
        self._controls = controls
        self._at_rx, self._at_stored = hooks["rx"], hooks["stored"]
        self._ring = BlockRing(nic, dma, place.rx_blocks, place.rx_count, RX_CHAIN, place.rx_words)
        self._staging, self._mirror = nic.load(Word.STAGING), nic.load(Word.MIRROR)
        self._overwrites = place.options.staging == "overwrite"
        self._mirrors = place.options.rx_fifo == "host"
        self._messages = [0] * place.nodes
        """Of each node: messages whose last frame has come."""
        self._entries = 0
        """Of the Rx FIFO Queue that are given out, counted from the start."""
        self._free = [True] * place.options.receive_frames
        self._armed, self._turn = NONE, 0
        self._seen = 0
        self._moving: deque[In] = deque()
        """On their way to the host."""
        self._held: deque[In] = deque()
        """Waiting in the Receive Ring for a staging slot."""
        self._arm(0)

    def _arm(self, buffer: int) -> None:
        self._armed, self._turn = buffer, (buffer + 1) % len(self._free)
        self._free[buffer] = False
        self._nic.write(Reg.RMP, self._place.buffer(buffer))
        self._nic.write(Reg.RML, self._place.buffer(buffer) + self._place.receive_bytes)

    async def received(self) -> None:
        """A packet is complete. Arm another buffer; look whether it is a frame of this composition."""
        nic, place = self._nic, self._place
        nic.write(Reg.ISR, RECV)
        await nic.work("epos_head")
        end = await nic.read(Reg.RMP)
        buffer, self._armed = self._armed, NONE
        if self._free[self._turn]:
            self._arm(self._turn)
        at = place.buffer(buffer)
        key, number, word = nic.load_words(at, 3)
        frame = In(buffer, at, key, number, Told.of(word))
        if nic.load(end - nic.word_bytes) >> 24:
            await nic.work("epos_bad")
            nic.store(Word.BAD, nic.load(Word.BAD) + 1)
            self.release(buffer)
        elif number >> 24 == place.identity and key >> 24 == CONTROL and self._controls:
            await nic.work("epos_control_in")
            for take in self._controls:
                await take(key >> 16 & 0xFF, number & 0xFF, word)
            self.release(buffer)
        elif number >> 24 != place.identity or key >> 24 != DATA or frame.told.size > place.options.mtu:
            await self._foreign(frame)
        else:
            nic.trace(TraceEvent.NIC_RECV_START, key, frame.told.source)
            if self._held:
                self._held.append(frame)
                return
            await self._place_or_hold(frame)

    async def _foreign(self, frame: In) -> None:
        """It is none of this composition's frames."""
        nic = self._nic
        await nic.work("epos_foreign")
        nic.store(Word.FOREIGN, nic.load(Word.FOREIGN) + 1)
        nic.store(Word.FOREIGN_IS, frame.number >> 24)
        self.release(frame.buffer)

    @property
    def waits_for(self) -> tuple[int, int] | None:
        """The word that the oldest held frame waits for, and the value that it has now."""
        if not self._held:
            return None
        at = Word.FREED + 4 * self._held[0].told.source
        return at, self._seen

    async def freed(self) -> None:
        """A staging slot may be free."""
        while self._held:
            frame = self._held.popleft()
            if not await self._place_or_hold(frame, first=False):
                return

    async def _place_or_hold(self, frame: In, first: bool = True) -> bool:
        """The frame goes to its place, unless that is in use."""
        nic, source = self._nic, frame.told.source
        self._seen = nic.load(Word.FREED + 4 * source)
        if (self._messages[source] - self._seen & 0xFFFFFFFF) >= self._place.limit:
            if first:
                await nic.work("epos_hold")
                nic.store(Word.HELD, nic.load(Word.HELD) + 1)
            self._held.appendleft(frame)
            return False
        await nic.work("epos_rx")
        message = self._messages[source]
        frame.address = self._staging + self._place.staging(source, message)
        frame.address += self._place.options.mtu * (frame.number & 0x3FFF)
        for hook in self._at_rx:
            if not await hook(frame):
                self.release(frame.buffer)
                return True
        await self._deliver(frame, message)
        return True

    async def _deliver(self, frame: In, message: int) -> None:
        """A block of the Rx DMA Requests brings the payload to the host, and its end an entry of the Rx FIFO Queue."""
        nic, place, told = self._nic, self._place, frame.told
        index, lap = self._entries % place.entries, self._entries // place.entries & 1
        self._entries += 1
        frame.entry, frame.word = 4 * index, (0 if lap else LAP) | told.word
        self._messages[told.source] = message + told.last & 0xFFFFFFFF
        if self._overwrites and not frame.number & 0x3FFF:
            await nic.work("epos_mark")
            self._words(message, self._staging + place.mark(told.source, message), PASSED, wake=False)
        size = told.size or 4
        size = size if nic.word_bytes == 8 else size + 3 & ~3
        nic.trace(TraceEvent.NIC_ACCEPT, frame.key, told.source, 1)
        nic.trace(TraceEvent.NIC_DMA_START, frame.key, size, 4 if self._mirrors else 0)
        self._moving.append(frame)
        self._ring.data(frame.at + place.header_bytes, frame.address, size, not self._mirrors, (STORED, 0, 0))
        if self._mirrors:
            await nic.work("epos_mirror")
            self._words(frame.word, self._mirror + frame.entry, MIRRORED, wake=True)
        await self._ring.start()

    def _words(self, word: int, address: int, meaning: int, wake: bool) -> None:
        """A block that writes one word to the host."""
        self._ring.words((word,), address, (meaning, 0, 0), wake)

    async def done(self) -> None:
        """Blocks of the Rx DMA Requests have ended."""
        nic = self._nic
        while (entry := self._ring.finished()) is not None:
            if entry[0] != STORED:
                await nic.work("epos_passed")
                continue
            await nic.work("epos_stored")
            frame = self._moving.popleft()
            self.release(frame.buffer)
            if not self._mirrors:
                nic.store(self._place.fifo + frame.entry, frame.word)
            for hook in self._at_stored:
                await hook(frame)

    def release(self, buffer: int) -> None:
        """A buffer is free. They take turns: if the one whose turn it is was not, it takes the next packet now."""
        self._free[buffer] = True
        if self._armed == NONE and self._free[self._turn]:
            self._arm(self._turn)

    def wants(self) -> Iterator[Wait]:
        """For reports of who waits for whom."""
        for frame in self._held:
            what = f"a staging slot for node {frame.told.source}"
            yield Wait(self._nic.who, Wanted(what, f"host {self._nic.node}"))
