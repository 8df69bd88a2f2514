"""EPOS's NIC program for three compositions, written by hand without point-cuts.

The compositions are the baseline, reliability, and reliability with flow control, with default options. Only code with
point-cuts is rewritten; nothing here names a protocol's module, or is called through a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic import host_dma
from firmware.epos.nic.layout import Place
from firmware.epos.nic.program import Program
from firmware.epos.nic.receiving import In, Receiver
from firmware.epos.nic.sending import Out, Sender
from firmware.epos.nic.words import INDEX, ROUTE, RX_CHAIN, TX_CHAIN, Kind, Word
from firmware.epos.options import Options
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent

NO_HOOKS: Mapping[str, tuple[()]] = dict.fromkeys(("bell", "fetch", "tx", "tx_done", "rx", "stored"), ())
CREDIT_BELL = 124
"""Slot of a doorbell that carries a credit: flow control is the fourth protocol."""


class Sending(Sender):
    """Send side of the baseline, which is also that of reliability."""

    async def rung(self, page: int, offset: int, bell: int) -> None:
        """Process a doorbell."""
        nic, node, slot, size = self._nic, bell >> 24, bell >> 16 & 127, bell & 0xFFFF
        least, most = self._place.header_bytes, self._place.frame_bytes
        if node not in self.known or slot >= self._count or not least <= size <= most:
            await nic.work("epos_empty")
            nic.store(Word.EMPTY, nic.load(Word.EMPTY) + 1)
            return
        small = not bell & 1 << 23
        out = Out(node, self._place.slot(slot), size, small)
        nic.trace(TraceEvent.NIC_NOTICED, nic.load(out.at), message=nic.message_at(out.at))
        if small and self._out is None and not self._queue:
            await self.launch(out)
            return
        await nic.work("epos_queue" if small else "epos_fetch")
        self._queue.append(out)
        if not small:
            self._fetching.append(out)
            await self._dma.pulse(TX_CHAIN)
            await self.look_ahead()

    async def launch(self, out: Out) -> None:
        """Start the send engine with a frame."""
        nic, width = self._nic, self._nic.word_bytes
        self._out = out
        await nic.work("epos_tx")
        high, low, begin, skip = self.route(out.node)
        nic.store_words(out.at - ROUTE, (high, low))
        nic.put_message(out.at - ROUTE + begin + skip, nic.message_at(out.at))
        nic.trace(TraceEvent.NIC_SEND_START, nic.load(out.at), out.size, message=nic.message_at(out.at))
        nic.write(Reg.SMP, out.at - ROUTE + begin)
        nic.write(Reg.SA, skip)
        nic.write(Reg.SMLT, out.at - (-out.size // width) * width)

    async def sent(self) -> None:
        """Process the end of a send DMA."""
        nic, out = self._nic, self._out
        assert out is not None
        nic.write(Reg.ISR, 1 << Isr.SEND)
        self._out = None
        await nic.work("epos_sent")
        if out.counted:
            nic.store(self._place.sent, nic.load(self._place.sent) + 1 & 0xFFFFFFFF)
        await self._next()


class CreditSending(Sending):
    """Send side with flow control, where a doorbell may also carry a credit or request one."""

    async def rung(self, page: int, offset: int, bell: int) -> None:
        if bell >> 16 & 127 != CREDIT_BELL or bell >> 24 not in self.known:
            await super().rung(page, offset, bell)
            return
        await self._nic.work("epos_credit")
        await self.send_control(bell >> 24, Kind.PROBE if bell & 1 << 23 else Kind.CREDIT, bell & 0xFFFF)


class Receiving(Receiver):
    """Receive side of the baseline."""

    sender: Sending
    """Send side, for acknowledgements and credits."""

    async def _take(self, frame: In) -> None:
        """Process a frame of this composition."""
        await self._arrived(frame)
        await self._placed(frame)

    async def _arrived(self, frame: In) -> None:
        """Compute the address in host memory of a frame that is next in its message."""
        source, index = frame.row, frame.number & INDEX
        frame.offset = self._place.options.mtu * index
        frame.gives_up = index == 0 and self._expected[source] & INDEX != 0
        frame.message = self._messages[source] + frame.gives_up & 0xFFFFFFFF
        frame.waits = len(self.held[0]) > 0 or self._full(frame)
        await self._nic.work("epos_hold" if frame.waits else "epos_rx")

    async def _placed(self, frame: In) -> None:
        """Start the DMA of a frame, hold the frame until there is room, or drop it."""
        if not await self._follows(frame):
            self.release(frame.buffer)
            return
        if not frame.waits:
            await self._give_up(frame)
            await self._deliver(frame)
            return
        self._nic.store(Word.HELD, self._nic.load(Word.HELD) + 1)
        self.held[0].append(frame)
        await self._give_up(self.held[0][0])

    async def done(self) -> None:
        """Process frames whose DMA to host memory is done."""
        while self._ring.finished() is not None:
            await self._stored()

    async def _stored(self) -> In:
        await self._nic.work("epos_stored")
        frame = self._moving.popleft()
        self.release(frame.buffer)
        self._nic.store(self._place.fifo + frame.entry, frame.word)
        return frame


class ReliableReceiving(Receiving):
    """Receive side with reliability: the last numbers received, acknowledged and stored, for each source."""

    async def _take(self, frame: In) -> None:
        await self._arrived(frame)
        if await self._first(frame):
            await self._placed(frame)

    async def _first(self, frame: In) -> bool:
        """Return True if a frame is no duplicate."""
        nic, at = self._nic, self._place.peer["reliability"] + 12 * frame.row
        frame.count = nic.load(frame.at + self._place.header_bytes - 4)
        if nic.load(at) != frame.count:
            nic.store(at, frame.count)
            return True
        await nic.work("epos_duplicate")
        if nic.load(at + 8) == frame.count:
            await self.sender.send_control(frame.row, Kind.ACK, frame.count)
        self.release(frame.buffer)
        return False

    async def done(self) -> None:
        while self._ring.finished() is not None:
            frame = await self._stored()
            self._nic.store(self._place.peer["reliability"] + 12 * frame.row + 8, frame.count)
            await self.sender.send_control(frame.row, Kind.ACK, frame.count)

    async def control(self, row: int, kind: int, value: int) -> None:
        """Process a control frame."""
        if kind == Kind.ACK:
            self._nic.store(self._place.peer["reliability"] + 12 * row + 4, value)


class CreditReceiving(ReliableReceiving):
    """Receive side with reliability and flow control: also the number of messages that each source has copied."""

    async def _take(self, frame: In) -> None:
        await self._arrived(frame)
        if await self._first(frame):
            self._nic.store(self._place.peer["flow"] + 4 * frame.row, self._nic.load(frame.at + 12))
            await self._placed(frame)

    async def control(self, row: int, kind: int, value: int) -> None:
        if kind == Kind.CREDIT:
            self._nic.store(self._place.peer["flow"] + 4 * row, value)
        elif kind == Kind.PROBE:
            await self._nic.work("epos_answer")
            await self.sender.send_control(row, Kind.CREDIT, self._nic.load(self._place.freed(row)) & 0xFFFF)
        await super().control(row, kind, value)


SIDES: Mapping[tuple[str, ...], tuple[type[Sending], type[Receiving]]] = {
    (): (Sending, Receiving),
    ("reliability",): (Sending, ReliableReceiving),
    ("flow", "reliability"): (CreditSending, CreditReceiving),
}
"""Send and receive sides by composition."""


class ByHand(Program):
    """Loop of the composed program, over hand-written send and receive sides."""

    def __init__(self, nic: Nic, view: ClusterView, options: Options) -> None:
        self.nic, self.view, self.protocols = nic, view, {}
        self.place = place = Place(options, len(view.names))
        self._dma = host_dma(nic, {RX_CHAIN: place.rx_blocks, TX_CHAIN: place.tx_blocks})
        sending, receiving = SIDES[options.composition]
        self.sender = sender = sending(nic, view, place, self._dma, dict(NO_HOOKS), {})
        controls = [self._control] if options.composition else []
        self.receiver = receiver = receiving(nic, place, self._dma, dict(NO_HOOKS), controls)
        receiver.sender = sender
        self._next_bell = 0
        nic.waits.register(lambda: [*self.sender.wants(), *self.receiver.wants()])

    async def _control(self, row: int, kind: int, value: int) -> None:
        assert isinstance(self.receiver, ReliableReceiving)
        await self.receiver.control(row, kind, value)


async def main(nic: Nic, view: ClusterView) -> None:
    """Run the program of a NIC, on a card with doorbells."""
    await nic.poll_loop([Watch(Word.STAGING, 0, "epos_look_ready")]).run()
    await ByHand(nic, view, Options.from_values(view.options).on(has_doorbells=True)).run()
