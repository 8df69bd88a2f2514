"""Access to the link: answers before messages, and one message prepared while another leaves.

The send engine takes one packet at a time. Route and message are contiguous in the channel's queue, so SMP and SMLT
send them in a single DMA (paper 000, 4.2.2). Answers that cannot leave wait in the control-message queue and go before
the prepared message (paper 000, 4.2.3).
"""

from __future__ import annotations

from firmware.grim.formats import TAG
from firmware.grim.nic.channels import SENT, Channel
from firmware.grim.nic.clock import Clock
from firmware.grim.nic.layout import CONTROL_ENTRY, ROUTE_BYTES, Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.orders import Order
from firmware.grim.nic.streams import Streams
from pymodels.messages import PLACE
from pymodels.registers import Isr, Reg
from pymodels.trace import Part, TraceEvent, unit, unit_name

SEND = 1 << Isr.SEND


class Transmitter:
    """Send engine, control-message queue, and the message prepared for the link."""

    def __init__(self, ni: Ni, order: Order, streams: Streams, clock: Clock) -> None:
        self.ni, self.nic = ni, ni.nic
        self._order, self._streams, self._clock = order, streams, clock
        self.busy = False
        """True while the send engine has a packet."""
        self.prepared: tuple[int, int, int, int, int, int] | None = None
        """SMP, SA, SMLT, key, stream and number of the prepared message, or None."""
        self.leaving = (0, 0)
        """Key and bytes of the packet that is, or was last, in the send engine."""
        self._leaving_message = 0
        self.stuck = False
        """True while the NI only waits for the link (options `control_queue`, `hybrid_wait`)."""
        self._leaving_at = 0
        self._behind: list[int] = []
        """Streams whose next message is the copy that is leaving now for another child."""
        self._align = -1
        self._head = 0
        self._answered = [0] * ni.layout.control_entries
        """Numbers in the trace of the messages that the control-message queue answers."""
        self.waiting = 0
        """Number of answers in the control-message queue."""

    # ---- messages

    def prepare(self, channel: Channel, slot: int) -> None:
        """Write route and word 0 of a message into the queue, and start it if the link is free."""
        stream, routed = channel.stream[slot], self._order.peer(channel.stream[slot])
        channel.state[slot] = SENT
        self._streams.in_flight[stream] += 1
        r0, r1, align = self.ni.routes[routed]
        at = channel.base + channel.offset[slot]
        key = channel.key(slot)
        self.nic.store_words(at, (r0, r1, key))
        if self.ni.lossy:  # a copy may have the tag of another child
            w1 = self.nic.load(at + ROUTE_BYTES + 4) & ~TAG
            self.nic.store(at + ROUTE_BYTES + 4, w1 | self.ni.tags[routed] & TAG)
        self.prepared = (at, align, at + channel.size[slot], key, stream, channel.message[slot])
        self._clock.sent(stream)
        if not self.busy:
            self._start_prepared()

    def copy_leaves(self, channel: Channel, slot: int, stream: int) -> bool:
        """Return True if the same copy is leaving for another child, whose route is in front of it.

        The stream is woken when that copy has left.
        """
        leaves = self.busy and self._leaving_at == channel.base + channel.offset[slot]
        if leaves:
            self._behind.append(stream)
        return leaves

    def has(self, key: int) -> bool:
        """Return True if the message with a key is in the send engine."""
        return self.busy and self.leaving[0] == key

    def withdraw(self, stream: int) -> None:
        """Discard the prepared message if it belongs to a stream that is rolled back."""
        if self.prepared is not None and self.prepared[4] == stream:
            self.prepared = None

    def forget(self, key: int) -> None:
        """Discard the prepared message if it has the given key."""
        if self.prepared is not None and self.prepared[3] == key:
            self.prepared = None

    def _start_prepared(self) -> None:
        assert self.prepared is not None
        at, align, limit, key, _, message = self.prepared
        self.prepared = None
        self._start(at, align, limit, key, message)
        self.nic.trace(TraceEvent.NIC_SEND_START, key, limit - at - ROUTE_BYTES, message=message)

    # ---- send engine

    def _start(self, at: int, align: int, limit: int, key: int, message: int, register: Reg = Reg.SMLT) -> None:
        """Start a packet on the idle send engine, or with register SML the first piece of a packet."""
        write, skip = self.nic.write, align % self.nic.word_bytes
        if skip != self._align:
            write(Reg.SA, skip)
            self._align = skip
        self.nic.places[at + align >> PLACE] = message
        write(Reg.SMP, at + align - skip)
        write(register, limit)
        self.busy = True
        self.leaving, self._leaving_at = (key, limit - at - ROUTE_BYTES), at
        self._leaving_message = message

    async def sent(self) -> None:
        """Handle SEND_INT: a packet has left SRAM. Start the next answer, otherwise the prepared message."""
        self.nic.write(Reg.ISR, SEND)
        self.nic.trace(TraceEvent.NIC_SEND_DONE, *self.leaving, message=self._leaving_message)
        if self.waiting or self._behind or self.stuck or self.prepared is not None:
            await self.nic.work("send_done")
        else:
            self.nic.post("send_done")
        self.busy = False
        while self._behind:
            self._streams.wake(self._behind.pop())
        if self.waiting:
            self._start_control()
        if not self.waiting:
            self.link_found()
        if not self.busy and self.prepared is not None:
            self._start_prepared()

    def wait_for_link(self) -> None:
        """Suspend all other work until the send engine is idle."""
        self.stuck = True
        self.nic.waits.want(self.nic.who, "the outgoing link", unit_name(unit(self.nic.node, Part.NET_SEND)))

    def link_found(self) -> None:
        """Resume other work, if it was suspended."""
        if self.stuck:
            self.stuck = False
            self.nic.waits.got(self.nic.who, "the outgoing link")

    # ---- answers

    def answer(self, vnn: int, words: tuple[int, int], message: int = 0) -> None:
        """Send a control message, at once if the link is free, otherwise through the control-message queue.

        `message` is the number in the trace of the message that it answers.

        The queue has room for an answer to each message in flight. With time-outs, answers to duplicates that find it
        full are dropped.
        """
        layout = self.ni.layout
        if self.waiting == layout.control_entries:
            if self.ni.lossy:
                self.ni.count(Counter.UNSENT)
                return
            raise RuntimeError(f"node {self.ni.me}: control-message queue overflow: {self.waiting} answers are pending")
        r0, r1, _ = self.ni.routes[vnn]
        place = (self._head + self.waiting) % layout.control_entries
        at = layout.control + CONTROL_ENTRY * place
        self.nic.store_words(at, (r0, r1, words[0], words[1] | max(self.ni.tags[vnn], 0)))
        self._answered[place] = message
        self.waiting += 1
        if not self.busy:
            self._start_control()
        else:
            if not self.ni.options.control_queue:
                self.wait_for_link()
            self.ni.count(Counter.CONTROL_QUEUED)
            self.nic.trace(TraceEvent.CONTROL_QUEUED, words[0], self.waiting, message=message)

    def _start_control(self) -> None:
        layout = self.ni.layout
        at, message = layout.control + CONTROL_ENTRY * self._head, self._answered[self._head]
        self._head = (self._head + 1) % layout.control_entries
        self.waiting -= 1
        r0, r1, key = self.nic.load_words(at, 3)
        self._start(at, _unused(r0, r1), at + CONTROL_ENTRY, key, message)


def _unused(r0: int, r1: int) -> int:
    """Return the number of unused bytes of a right-aligned route."""
    return ROUTE_BYTES - ((r0 << 32 | r1).bit_length() + 7 >> 3)
