"""Remote memory: messages that the NI executes as soon as they arrive (paper 000, 4.5).

A write (RM-V, RM-P) goes by host DMA to its target, one block for each physical piece, followed by the lock word if
requested. A read (RM-RV) is fetched by host DMA into the NI's own queue and leaves from there as a reply. The reply is
a message like any other: token, sequence, ACK. The reading NI stores the reply like a write. Then the read, which
stayed in its channel's queue, counts as acknowledged (readings B7).

All blocks go through the delivery chain in order. So a remote memory operation overtakes no other one, and an active
message overtakes no earlier remote memory operation (4.5.6). A translation miss is resolved by the driver. Meanwhile
the message keeps its receive buffer, and its stream gets NACKs. A second miss gets a NACK for lack of a buffer
(readings B5, B8).

A message for the node's FPGA card names offsets in its banks. They must be in windows that the card's driver has opened
(`windows`); such a lookup never misses.

When the driver frees a block, a message that waits for further translations discards those it has. The NI confirms to
the driver behind all DMA blocks in progress, so afterwards no DMA accesses the block.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware.common.nic.host_dma import E2L
from firmware.grim.formats import (
    CONTINUES,
    COUNTER_MASK,
    HEADER_BYTES,
    MORE,
    Cause,
    Device,
    Lack,
    MessageType,
    Words,
    padded,
)
from firmware.grim.nic.answers import Answers
from firmware.grim.nic.cards import CARD
from firmware.grim.nic.channels import WAITING
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.delivery import FETCHED, NO_BUFFER, REQUESTED, UNFETCHED, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import NONE, ROUTE_BYTES, Counter, DriverWord, Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.remote_memory.jobs import Job, decode_job
from firmware.grim.nic.remote_memory.translation import Translation
from firmware.grim.nic.remote_memory.windows import Windows
from firmware.grim.nic.verdicts import Verdicts
from pymodels.registers import Isr, Reg
from pymodels.trace import ACCEPT_IN_NIC, CAUSE_SHIFT, TraceEvent

SIGNAL = 1 << Isr.LANAI_SIG
"""ISR flag set by the driver when it has answered a request or freed a block."""
INTERRUPT = 1 << Isr.HOST_SIG


class Remote:
    """Remote memory operations of one NI."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        buffers: Buffers,
        verdicts: Verdicts,
        endpoints: Endpoints,
        delivery: Delivery,
        answers: Answers,
    ) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._outgoing, self._buffers, self._verdicts = outgoing, buffers, verdicts
        self._endpoints, self._delivery, self._answers = endpoints, delivery, answers
        self._translation, self._windows = Translation(ni), Windows(ni)
        self.card_step: Callable[[int], None] = lambda step: None
        """Function called when the card's driver begins to start the card again."""
        self.under_way = 0
        """Number of DMA operations in progress whose completion needs an action."""
        self._parked: Job | None = None
        self._entry = 0
        self._number = 0
        self._for_lock = False
        """True while the pending translation request is for the lock word."""
        self._freed = self._restarted = 0
        self._storing: dict[int, tuple[int, int]] = {}
        """Word 0 of the read and the NI that was read, by receive buffer whose reply is being stored."""
        self._transfers: dict[tuple[int, int, int], int] = {}
        """Address at which each incomplete transfer continues, or the Cause of its failure."""

    def forget(self, peer: int) -> None:
        """Cancel the requests of a restarted NI that wait for a translation."""
        if self._parked is not None and self._parked.source == peer:
            self._parked.forgotten = True
        self._transfers = {transfer: state for transfer, state in self._transfers.items() if transfer[0] != peer}

    def has_to_do_with(self, peer: int) -> bool:
        """Return True if a message of a NI waits for a translation, or its reply is on the way to the host."""
        waits = self._parked is not None and self._parked.source == peer
        return waits or any(source == peer for _, source in self._storing.values())

    # ---- arrival

    async def arrived(self, buffer: int, head: Words, stream: int) -> None:
        """Process a received remote memory message that is next in its stream."""
        job = decode_job(self._nic, self._layout, buffer, head, stream)
        await self._nic.work("remote_look")
        if job.to_card or job.reader & 3 == Device.CELOXICA:
            await self._nic.work("remote_card")
        cause = await self._interrupted(job) or await self._translate(job)
        if cause:
            await self._impossible(job, cause)
        elif job.pieces is not None and job.lock_pieces is not None:
            await self._execute(job)
        elif self._parked is None:
            await self._park(job)
        else:
            await self._refuse(job, Lack.TRANSLATION)

    async def _interrupted(self, job: Job) -> int:
        """Return the Cause that prevents the continuation of a transfer, because an earlier message failed, or 0."""
        if not job.place:
            return 0
        await self._nic.work("remote_transfer")
        before = self._transfers.get(job.transfer, Cause.INTERRUPTED) if job.place & CONTINUES else job.target
        if before == job.target:
            return 0
        return before if before in tuple(Cause) else Cause.INTERRUPTED

    def _leave(self, job: Job, state: int) -> None:
        """Record for the rest of the transfer its next address, or the Cause of its failure."""
        if job.place & MORE:
            self._transfers[job.transfer] = state

    async def _translate(self, job: Job) -> Cause | None:
        """Translate the target, then the lock, where still unknown. A miss leaves None; a permanent failure returns its
        Cause.
        """
        if not 0 < job.size <= self._layout.payload:
            return Cause.CARD_DOWN if job.kind == MessageType.RM_REPLY and not job.size else Cause.TOO_LONG
        if job.to_card and self._endpoints.down:
            return Cause.CARD_DOWN
        if job.to_card:
            return await self._find_windows(job)
        if job.pieces is None:
            if job.kind == MessageType.RM_P:
                job.pieces = [(job.target, job.size)]
            else:
                found = await self._translation.look_up(job.target, job.size, job.whole)
                if isinstance(found, Cause):
                    return found
                job.pieces = found
        if job.pieces is not None and job.lock and not job.lock_pieces and job.kind != MessageType.RM_RV:
            found = await self._translation.look_up(job.lock, 4, 4)
            if isinstance(found, Cause):
                return Cause.LOCK_NOT_REGISTERED
            job.lock_pieces = found
        return None

    async def _find_windows(self, job: Job) -> Cause | None:
        """Translate the target and the lock of a message for the FPGA card, or return the Cause of its failure."""
        offset = job.target - CARD if job.kind == MessageType.RM_P else job.target
        found = await self._windows.look_up(offset, job.size, job.whole)
        if isinstance(found, Cause):
            return found
        job.pieces = found
        if job.lock and job.kind != MessageType.RM_RV:
            found = await self._windows.look_up(job.lock, 4, 4)
            if isinstance(found, Cause):
                return Cause.LOCK_NOT_REGISTERED
            job.lock_pieces = found
        return None

    async def _refuse(self, job: Job, lack: Lack) -> None:
        """Reject a message for lack of a resource, by a NACK."""
        if self._unpark(job):
            self._verdicts.expected[job.stream] = job.key & COUNTER_MASK
        await self._verdicts.refuse(job.buffer, job.key, job.source, job.stream, lack)

    async def _impossible(self, job: Job, cause: int) -> None:
        """Fail a message: report to its sender, or for a reply to this NI's host, whose read failed here."""
        self._leave(job, cause)
        self._take(job)
        if job.kind == MessageType.RM_REPLY:
            await self._nic.work("send_ack")
            self._acknowledge(job)
            await self._nic.work("error_seen")
            self._buffers.release(job.buffer)
            down = cause == Cause.CARD_DOWN
            await self._answers.failed_here(job.request, job.source, cause if down else Cause.FREED_HERE)
        else:
            await self._verdicts.fail(job.buffer, job.key, job.source, job.stream, cause)

    # ---- misses

    async def _park(self, job: Job) -> None:
        """Stall the stream of a message that missed, and request its translation from the driver."""
        self._parked = job
        self._verdicts.stalled = job.stream
        self._accept(job)
        self._ni.count(Counter.PARKED)
        await self._ask(job)

    def _unpark(self, job: Job) -> bool:
        """Return True if a finished job was the parked one, and resume its stream."""
        was_parked = self._parked is job
        if was_parked:
            self._parked, self._verdicts.stalled = None, NONE
        return was_parked

    async def _ask(self, job: Job) -> None:
        self._for_lock = job.pieces is not None
        va, size = (job.lock, 4) if self._for_lock else (job.target, job.size)
        self._ni.count(Counter.MISSES)
        self._nic.trace(TraceEvent.TRANSLATION_MISS, job.key, va, message=self._buffers.message[job.buffer])
        self._entry, self._number = self._translation.victim(), self._number + 1 & 0xFFFF
        await self._nic.work("translate_ask")
        self._nic.store_words(Word.REQUEST, (va, size, self._entry, self._number))
        kernel = self._nic.load(Word.KERNEL)
        asked = REQUESTED, job.key, 16
        self._delivery.data(Word.REQUEST, kernel + DriverWord.REQUEST, 16, True, asked, message=0)
        await self._delivery.start()
        self.under_way += 1

    async def signalled(self) -> None:
        """Handle LANAI_SIG: the driver has freed a block, has written its answer into the entry, or both."""
        self._nic.write(Reg.ISR, SIGNAL)
        await self._nic.work("translate_told")
        restarted = self._nic.load(Word.CARD)
        if restarted != self._restarted:
            self._restarted = restarted
            self.card_step(restarted)
        freed = self._nic.load(Word.FREED)
        if freed != self._freed:
            await self._let_go(freed)
        number, cause = self._translation.answer(self._entry)
        if self._parked is not None and number == self._number:
            await self._answered(self._parked, cause)

    async def _let_go(self, freed: int) -> None:
        """Discard the translations of a freed block, and confirm to the driver behind all DMA in progress."""
        self._freed = freed
        if self._parked is not None:
            self._parked.pieces, self._parked.lock_pieces = None, []
        await self._nic.work("translate_freed")
        self._delivery.word(freed, self._nic.load(Word.KERNEL) + DriverWord.FREED, (NO_BUFFER, 0, 0))
        await self._delivery.start()

    async def _answered(self, job: Job, cause: Cause | None) -> None:
        """Continue the parked message after the driver's answer."""
        message = self._buffers.message[job.buffer]
        self._nic.trace(TraceEvent.TRANSLATION_DONE, job.key, cause or 0, message=message)
        if job.forgotten:
            self._unpark(job)
            self._buffers.release(job.buffer)
            return
        if cause is not None and self._for_lock:
            cause = Cause.LOCK_NOT_REGISTERED
        cause = cause or await self._translate(job)
        if cause is not None:
            await self._impossible(job, cause)
        elif job.pieces is None or job.lock_pieces is None:
            await self._ask(job)
        else:
            await self._execute(job)

    # ---- execution

    async def _execute(self, job: Job) -> None:
        """Execute a message whose translations are complete."""
        if job.kind == MessageType.RM_RV:
            await self._read(job)
        else:
            self._take(job)
            await self._write(job)

    def _take(self, job: Job) -> None:
        """Accept a message whose outcome is certain. A parked one was accepted before, and its successors may have been
        rejected.
        """
        if not self._unpark(job):
            self._accept(job)

    def _accept(self, job: Job) -> None:
        """Advance the stream past the message."""
        self._verdicts.in_order(job.stream, job.key)
        message = self._buffers.message[job.buffer]
        self._nic.trace(TraceEvent.NIC_ACCEPT, job.key, job.source, ACCEPT_IN_NIC, message=message)

    def _acknowledge(self, job: Job) -> None:
        message = self._buffers.message[job.buffer]
        self._verdicts.answer(MessageType.ACK, job.source, job.key, job.stream, message)
        self._nic.trace(TraceEvent.ACK_SENT, job.key, job.source, message=message)
        self._ni.count(Counter.ACCEPTED)

    async def _write(self, job: Job) -> None:
        """Write the data, one block for each piece, then the lock word.

        When all are stored, the buffer is freed and, for a reply, the read is complete.
        """
        assert job.pieces is not None and job.lock_pieces is not None
        delivery, at = self._delivery, self._buffers.at[job.buffer] + HEADER_BYTES
        reply, message = job.kind == MessageType.RM_REPLY, self._buffers.message[job.buffer]
        await self._nic.work("remote_write")
        if len(job.pieces) > 1:
            await self._nic.work("remote_piece", len(job.pieces) - 1)
            self._ni.count(Counter.FRAGMENTS, len(job.pieces))
        self._leave(job, job.target + job.size)
        locks = job.lock and not job.place & MORE
        last = (job.buffer, job.key, job.size)
        if reply:
            self._storing[job.buffer] = job.request, job.source
            self.under_way += 1
        for number, (pa, size) in enumerate(job.pieces, 1):
            ends = number == len(job.pieces) and not locks
            delivery.data(at, pa, size, ends, last if ends else (NO_BUFFER, 0, 0), message=message)
            at += size
        if locks:
            await self._nic.work("remote_lock")
            ((pa, _),) = job.lock_pieces
            delivery.word(job.value, pa, last, message)
        await delivery.start()
        self._nic.trace(TraceEvent.NIC_DMA_START, job.key, job.size, 4 * bool(locks), message=message)
        self._ni.count(Counter.REPLIES if reply else Counter.REMOTE_WRITES)
        await self._nic.work("send_ack")
        self._acknowledge(job)

    async def _read(self, job: Job) -> None:
        """Fetch the requested data into the NI's own queue, behind the header of the reply."""
        assert job.pieces is not None
        size = ROUTE_BYTES + HEADER_BYTES + padded(job.size + 3 >> 2)
        slot = self._outgoing.own_message(size, job.source, job.channels[0])
        if slot is None:
            await self._refuse(job, Lack.REPLIES)
            return
        self._take(job)
        own = self._outgoing.own
        key = own.key(slot)
        own.message[slot] = message = self._nic.message()
        cause = job.source | self._buffers.message[job.buffer] << CAUSE_SHIFT
        self._nic.trace(TraceEvent.NIC_REPLY, key, job.key, cause, message=message)
        await self._nic.work("remote_read")
        if len(job.pieces) > 1:
            await self._nic.work("remote_piece", len(job.pieces) - 1)
            self._ni.count(Counter.FRAGMENTS, len(job.pieces))
        at = own.base + own.offset[slot] + ROUTE_BYTES
        words = job.size + 3 >> 2
        self._leave(job, job.target + job.size)
        w1 = MessageType.RM_REPLY << 26 | (-job.size & 3) << 24 | job.place | self._ni.endpoint
        w3 = own.index << 24 | job.channels[0] << 16 | job.channels[1]
        arguments = (job.request, job.key, job.size, job.lock)
        self._nic.store_words(at + 4, (w1, words << 16 | job.reader, w3, *arguments))
        at += HEADER_BYTES
        for number, (pa, part) in enumerate(job.pieces, 1):
            ends = number == len(job.pieces)
            entry = (FETCHED, job.key, slot) if ends else (NO_BUFFER, 0, 0)
            self._delivery.data(at, pa, part, ends, entry, E2L, message=message)
            at += part
        self.under_way += 1
        self._ni.count(Counter.REMOTE_READS)
        await self._delivery.start()
        self._nic.trace(TraceEvent.NIC_DMA_START, key, job.size, message=message)
        self._buffers.release(job.buffer)

    # ---- ends of DMA

    async def ended(self, buffer: int, key: int, argument: int) -> None:
        """Handle the completion of an operation's last DMA block."""
        if buffer == REQUESTED:
            self.under_way -= 1
            self._nic.write(Reg.ISR, INTERRUPT)
        elif buffer in (FETCHED, UNFETCHED):
            self.under_way -= 1
            await self._nic.work("remote_fetched")
            if buffer == UNFETCHED:
                self._empty(argument)
            own, streams = self._outgoing.own, self._outgoing.streams
            own.state[argument] = WAITING
            streams.wake(own.stream[argument])
        elif buffer >= 0:
            await self._stored(buffer)

    def _empty(self, slot: int) -> None:
        """Turn the reply in a slot of the NI's own queue into one without data: its card has lost its power."""
        own = self._outgoing.own
        at = own.base + own.offset[slot] + ROUTE_BYTES
        w1, w2 = self._nic.load_words(at + 4, 2)
        own.size[slot] = ROUTE_BYTES + HEADER_BYTES
        self._nic.store_words(at + 4, (w1 & ~(3 << 24), w2 & 0xFFFF))

    async def _stored(self, buffer: int) -> None:
        """Complete the read whose reply is now in host memory."""
        if buffer in self._storing:
            self.under_way -= 1
            await self._nic.work("remote_done")
            await self._answers.replied(*self._storing.pop(buffer))
