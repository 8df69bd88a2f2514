"""Receiving side of the NIC: frames of the Receive Ring go into staging slots of host memory, and entries of the Rx
FIFO Queue notify the host.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from firmware.common.nic import BlockRing, HostDma
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import Hooks
from firmware.epos.nic.words import CONTROL, DATA, GREETING, HELLO, INCOMPLETE, INDEX, LAP, RX_CHAIN, FrameInfo, Word
from firmware.verbs import Nic
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

RECV = 1 << Isr.RECV | 1 << Isr.HEAD
NONE = -1
STORED, PASSED, MIRRORED = range(3)
"""Meanings of a completed DMA block: a frame is in host memory; none; the host's queue entry is written."""


Controls = Sequence[Callable[[int, int, int], Awaitable[None]]]
"""Functions of protocols that take source, kind and word of a control frame."""


@dataclass
class In:
    """Frame in the Receive Ring."""

    buffer: int
    at: int
    key: int
    number: int
    info: FrameInfo
    offset: int = 0
    """Offset of the payload in the message."""
    waits: bool = False
    """True if the frame has to wait in the Receive Ring for a staging slot."""
    seen: int = 0
    """Last polled number of the row's copied messages."""
    address: int = 0
    """Target in host memory; 0 for the staging slot."""
    message: int = 0
    """Number of the source's message since the start, which selects the staging slot."""
    traced: int = 0
    """Number of the message in the trace."""
    active: int = 0
    """Bits of the protocols that act on the frame, with active frames."""
    gives_up: bool = False
    """True if the message before it is incomplete, and the host was not notified yet."""
    count: int = 0
    """Number of the frame, with reliability."""
    row: int = 0
    """Row of the destination process and the source."""
    entry: int = 0
    """Offset of its entry in the Rx FIFO Queue; `word` is the entry's word."""
    word: int = 0


class Receiver:
    """Receive Ring, Rx DMA Requests and Rx FIFO Queue."""

    def __init__(self, nic: Nic, place: Place, dma: HostDma, hooks: Hooks, controls: Controls) -> None:
        self._nic, self._place = nic, place
        self._controls = controls
        self._at_rx, self._at_stored = hooks["rx"], hooks["stored"]
        self._ring = BlockRing(nic, dma, place.rx_blocks, place.rx_count, RX_CHAIN, place.rx_words)
        owners = [place.owner(process) for process in range(place.processes)]
        self._staging = [nic.load(staging) for staging, _, _ in owners]
        self._mirror = [nic.load(mirror) for _, mirror, _ in owners]
        self._overwrites = place.options.staging == "overwrite"
        self._mirrors = place.options.rx_fifo == "host"
        rows = place.peers * place.processes
        self._messages = [0] * rows
        """Number of messages of each row whose last frame has arrived, or that stay incomplete."""
        self._expected = [0] * rows
        """Message number and frame number of each row's next frame."""
        self._entries = [0] * place.processes
        """Number of entries written to each process's Rx FIFO Queue since the start."""
        self._free = [True] * place.options.receive_frames
        self._armed, self._turn = NONE, 0
        self._moving: deque[In] = deque()
        """Frames in DMA to the host."""
        self.offset = self.at
        """Function that returns the offset of a frame in its message. MTU adaptation replaces it."""
        self.row = self.source
        """Function that returns the row of a frame. Protection replaces it."""
        self.held: list[deque[In]] = [deque() for _ in range(place.processes)]
        """Frames of each process that wait in the Receive Ring for a staging slot."""
        self._arm(0)

    def _arm(self, buffer: int) -> None:
        self._armed, self._turn = buffer, (buffer + 1) % len(self._free)
        self._free[buffer] = False
        self._nic.write(Reg.RMP, self._place.buffer(buffer))
        self._nic.write(Reg.RML, self._place.buffer(buffer) + self._place.receive_bytes)

    async def received(self) -> None:
        """Handle RECV: arm another buffer, and process the packet."""
        nic, place = self._nic, self._place
        nic.write(Reg.ISR, RECV)
        await nic.work("epos_head")
        end = await nic.read(Reg.RMP)
        buffer, self._armed = self._armed, NONE
        if passed := self._next():
            await nic.work("epos_passed_by", passed)
        at = place.buffer(buffer)
        key, number, word = nic.load_words(at, 3)
        frame = In(buffer, at, key, number, FrameInfo.decode(word))
        if nic.load(end - nic.word_bytes) >> 24:
            await nic.work("epos_bad")
            nic.store(Word.BAD, nic.load(Word.BAD) + 1)
            self.release(buffer)
        elif number >> 24 == place.identity and key >> 24 == CONTROL and self._controls:
            await nic.work("epos_control_in")
            source = (key >> 16 & 0xFF) * place.processes + (number >> 8 & 0xFF)
            row = (number >> 16 & 0xFF) * place.peers + source
            for take in self._controls:
                await take(row, number & 0xFF, word)
            self.release(buffer)
        elif number >> 24 != place.identity or key >> 24 != DATA or frame.info.size > place.options.mtu:
            await self._foreign(frame)
        else:
            frame.row = self.row(frame)
            frame.traced = nic.message_at(at)
            nic.trace(TraceEvent.NIC_RECV_START, key, place.node(frame.row), message=frame.traced)
            await self._take(frame)

    async def _foreign(self, frame: In) -> None:
        """Process a packet that is not a frame of this composition: pass a greeting to the host, drop others."""
        nic, source = self._nic, frame.key >> 16 & 0xFF
        if frame.key >> 24 == HELLO and source < self._place.nodes:
            await nic.work("epos_greeting")
            self.release(frame.buffer)
            await self._tell(0, FrameInfo(False, source * self._place.processes, frame.number >> 24, GREETING))
            return
        await nic.work("epos_foreign")
        nic.store(Word.FOREIGN, nic.load(Word.FOREIGN) + 1)
        nic.store(Word.FOREIGN_IS, frame.number >> 24)
        self.release(frame.buffer)

    @property
    def waits_for(self) -> list[tuple[int, int]]:
        """Address and last value of the word that each process's oldest held frame waits for."""
        return [(self._place.freed(held[0].row), held[0].seen) for held in self.held if held]

    async def freed(self) -> None:
        """Deliver held frames whose staging slot has become free."""
        for held in self.held:
            while held:
                await self._give_up(held[0])
                if self._full(held[0]):
                    break
                await self._nic.work("epos_freed")
                await self._deliver(held.popleft())

    def source(self, frame: In) -> int:
        """Return the row of a frame without protection: its source."""
        return frame.info.source

    def at(self, frame: In) -> int:
        """Return the offset of a frame in its message if all frames have the configured MTU."""
        return (frame.number & INDEX) * self._place.options.mtu

    def _full(self, frame: In) -> bool:
        """Return True if the staging slot of a frame's message is in use."""
        frame.seen = self._nic.load(self._place.freed(frame.row))
        return (frame.message - frame.seen & 0xFFFFFFFF) >= self._place.limit

    async def _take(self, frame: In) -> None:
        """Deliver, hold or drop a frame of this composition."""
        nic, source, index = self._nic, frame.row, frame.number & INDEX
        held = self.held[source // self._place.peers]
        frame.offset = self.offset(frame)
        frame.gives_up = not index and bool(self._expected[source] & INDEX)
        frame.message = self._messages[source] + frame.gives_up & 0xFFFFFFFF
        frame.waits = bool(held) or self._full(frame)
        await nic.work("epos_hold" if frame.waits else "epos_rx")
        for hook in self._at_rx:
            if not await hook(frame):
                self.release(frame.buffer)
                return
        if not await self._follows(frame):
            self.release(frame.buffer)
        elif frame.waits:
            nic.store(Word.HELD, nic.load(Word.HELD) + 1)
            held.append(frame)
            await self._give_up(held[0])
        else:
            await self._give_up(frame)
            await self._deliver(frame)

    async def _follows(self, frame: In) -> bool:
        """Return True for the next frame of a message, or the first frame of a new one.

        If frames before a new message were lost, the incomplete message is abandoned and its slot counts as used.
        """
        nic, source, follows = self._nic, frame.row, frame.number & 0xFFFFFF
        index = follows & INDEX
        if frame.offset >= self._place.options.slot_bytes or (index and follows != self._expected[source]):
            await nic.work("epos_stray")
            nic.store(Word.STRAY, nic.load(Word.STRAY) + 1)
            return False
        if follows != self._expected[source]:
            await nic.work("epos_anew")
        last = frame.info.last
        self._expected[source] = ((follows | INDEX) if last else follows) + 1 & 0xFFFFFF
        self._messages[source] = frame.message + last & 0xFFFFFFFF
        return True

    async def _deliver(self, frame: In) -> None:
        """Start the DMA of a frame's payload to the host; its completion writes an entry of the Rx FIFO Queue."""
        nic, place, info = self._nic, self._place, frame.info
        process, source = divmod(frame.row, place.peers)
        frame.entry, frame.word = self._entry(process, info)
        staging = self._staging[process]
        if self._overwrites and not frame.number & INDEX:
            await nic.work("epos_mark")
            self._words(frame.message, staging + place.mark(source, frame.message), PASSED, wake=False)
        address = frame.address or staging + place.staging(source, frame.message) + frame.offset
        size = info.size or 4
        size = size if nic.word_bytes == 8 else size + 3 & ~3
        nic.trace(TraceEvent.NIC_ACCEPT, frame.key, place.node(source), 1, message=frame.traced)
        word = 4 if self._mirrors else 0
        nic.trace(TraceEvent.NIC_DMA_START, frame.key, size, word, message=frame.traced)
        self._moving.append(frame)
        local, wakes = frame.at + place.header_bytes, not self._mirrors
        self._ring.data(local, address, size, wakes, (STORED, 0, 0), message=frame.traced)
        self._note_entry(process, frame.entry, frame.traced)
        if self._mirrors:
            await nic.work("epos_mirror")
            self._words(frame.word, self._mirror[process] + frame.entry, MIRRORED, True, frame.traced)
        await self._ring.start()

    def _entry(self, process: int, info: FrameInfo) -> tuple[int, int]:
        """Return offset and word of a process's next entry of the Rx FIFO Queue."""
        count, entries = self._entries[process], self._place.entries
        self._entries[process] += 1
        return 4 * (count % entries), (0 if count // entries & 1 else LAP) | info.word

    def _note_entry(self, process: int, entry: int, message: int) -> None:
        """Note for the trace the message of an entry of the Rx FIFO Queue."""
        place = self._place
        at = self._mirror[process] if self._mirrors else place.fifo + place.stride * process
        self._nic.put_message(at + entry, message, in_host=self._mirrors)

    async def _give_up(self, frame: In) -> None:
        """Notify the host if the message before a frame stays incomplete."""
        if not frame.gives_up:
            return
        frame.gives_up = False
        await self._tell(frame.row // self._place.peers, FrameInfo(True, frame.info.source, 0, INCOMPLETE))

    async def _tell(self, process: int, info: FrameInfo) -> None:
        """Write an entry of the Rx FIFO Queue without payload."""
        at, word = self._entry(process, info)
        self._note_entry(process, at, 0)
        if self._mirrors:
            await self._nic.work("epos_mirror")
            self._words(word, self._mirror[process] + at, MIRRORED, wake=True)
            await self._ring.start()
        else:
            self._nic.store(self._place.fifo + self._place.stride * process + at, word)

    def _words(self, word: int, address: int, meaning: int, wake: bool, message: int = 0) -> None:
        """Append a DMA block that writes one word, which may be about a message, to the host."""
        self._ring.words((word,), address, (meaning, 0, 0), wake, message=message)

    async def done(self) -> None:
        """Process completed blocks of the Rx DMA Requests."""
        nic = self._nic
        while (entry := self._ring.finished()) is not None:
            if entry[0] != STORED:
                await nic.work("epos_passed")
                continue
            await nic.work("epos_stored")
            frame = self._moving.popleft()
            self.release(frame.buffer)
            if not self._mirrors:
                pages = self._place.stride * (frame.row // self._place.peers)
                nic.store(self._place.fifo + pages + frame.entry, frame.word)
            for hook in self._at_stored:
                await hook(frame)

    def release(self, buffer: int) -> None:
        """Free a buffer. Buffers take turns; if none is armed, arm the one whose turn it is once it is free."""
        self._free[buffer] = True
        if self._armed == NONE:
            self._next()

    def _next(self) -> int:
        """Arm the buffer whose turn it is, if it is free.

        With protection, buffers with held frames are skipped.

        Returns:
            The number of buffers skipped.
        """
        count = len(self._free)
        for ahead in range(count if self._place.stride else 1):
            if self._free[(self._turn + ahead) % count]:
                self._arm((self._turn + ahead) % count)
                return ahead
        return 0

    def wants(self) -> Iterator[Wait]:
        """Yield a wait for each held frame, for hang reports."""
        for frame in (frame for held in self.held for frame in held):
            what = f"a staging slot for node {frame.info.source}"
            yield Wait(self._nic.who, Wanted(what, f"host {self._nic.node}"))
