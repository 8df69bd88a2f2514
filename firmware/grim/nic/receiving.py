"""Receiving side: dispatch of packets from the link by message type.

A message is accepted when its sequence number is the expected one of its stream and the endpoint's queue has room. The
first message without room is answered by a NACK, and all messages of its stream are dropped silently until it returns
(paper 000, 4.2.1; readings B5).
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from firmware.common.nic.whole_words import has_whole_words
from firmware.grim.channel_map import NO_CARD
from firmware.grim.formats import (
    CONTROL_BYTES,
    COUNTER_MASK,
    FIRST_CONTROL,
    HEADER_BYTES,
    MAX_WINDOW,
    TAG,
    TREES,
    Cause,
    Device,
    Lack,
    MessageType,
    Words,
    padded,
)
from firmware.grim.nic.card_messages import CardMessages
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.cutting import CutThrough
from firmware.grim.nic.layout import NONE, Counter
from firmware.grim.nic.multicast import Multicast
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.remote_memory.remote import Remote
from firmware.grim.nic.verdicts import Verdicts
from pymodels.messages import PLACE
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent

RECV = 1 << Isr.RECV | 1 << Isr.HEAD
BUFF = 1 << Isr.BUFF


class Controls(Protocol):
    """Receiver of control messages."""

    def seen(self, head: Words) -> Awaitable[None]:
        """Process a received control message."""


class Queues(Protocol):
    """Receiver of messages for endpoints: `Intake`, or `Buffering` or `CardMessages` in front of it."""

    def take(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> Awaitable[None]:
        """Process a message for an endpoint that is next in its stream; `early` bytes of it need no further DMA."""


class Receiver:
    """Main-loop steps for received packets."""

    def __init__(
        self,
        ni: Ni,
        buffers: Buffers,
        verdicts: Verdicts,
        cut_through: CutThrough,
        card: CardMessages,
        queues: Queues,
        multicast: Multicast,
        remote: Remote,
        controls: Controls,
    ) -> None:
        """Create the receiver; `queues` takes messages for the host's endpoints, `card` those for an FPGA card."""
        self._ni, self._nic = ni, ni.nic
        self._buffers, self._verdicts, self._cut_through = buffers, verdicts, cut_through
        self._multicast, self._remote, self._controls = multicast, remote, controls
        channels = ni.options.channels
        self._ends = [ni.endpoint] * channels
        """Endpoint of each channel."""
        self._queues = [queues] * channels
        """Receiver of each channel's messages."""
        if ni.card_channel != NO_CARD:
            self._ends[ni.card_channel] |= Device.CELOXICA
            self._queues[ni.card_channel] = card
        self._card = card
        self._overlong = False

    async def packet(self) -> None:
        """Handle RECV: arm another buffer, check the completed packet and dispatch it."""
        nic, buffers, buffer = self._nic, self._buffers, self._buffers.armed
        nic.write(Reg.ISR, RECV)
        at = buffers.at[buffer]
        head = Words(*nic.load_words(at, 4))
        is_control = head.type >= FIRST_CONTROL
        length = CONTROL_BYTES if is_control else HEADER_BYTES + padded(head.words)
        # Control messages have a fixed length, data messages the length in their header. RMP points after the word
        # with the syndrome.
        good = (is_control and not self._ni.lossy) or await nic.read(Reg.RMP) == at + length + nic.word_bytes
        if self._ni.lossy:
            flags = await nic.read(Reg.ISR)
            await nic.work("receive_exact")
            good = good and has_whole_words(flags, nic.word_bytes)
        early, overlong, self._overlong = self._cut_through.take(), self._overlong, False
        buffers.received()
        message = buffers.message[buffer] = nic.places[at >> PLACE]
        nic.trace(TraceEvent.NIC_RECV_START, head.w0, head.source, message=message)
        bad = overlong or not good or length > self._ni.layout.host_slot or not head.is_grim
        if bad or nic.load(at + length) >> 24:
            await self._bad(buffer, head.w0, overlong)
        elif self._ni.lossy and await self._foreign(head):
            self._ni.count(Counter.FOREIGN)
            nic.trace(TraceEvent.NIC_DROPPED, head.w0, Counter.FOREIGN, message=message)
            buffers.release(buffer)
        elif is_control:
            buffers.release(buffer)
            await self._controls.seen(head)
        else:
            await self._message(buffer, head, length, early)

    async def _foreign(self, head: Words) -> bool:
        """Return True if a packet belongs to no current connection.

        Notices and their answers need no connection. A packet of a current connection also shows that the other NI is
        alive.
        """
        await self._nic.work("connection_look")
        ni, source = self._ni, head.source
        if head.type >= MessageType.SYNC:
            return False
        if source >= ni.nodes or head.w1 & TAG != ni.tags[source]:
            return True
        ni.tries[source] = 0
        return False

    async def _bad(self, buffer: int, key: int, overlong: bool) -> None:
        """Count and drop an invalid packet, without an answer."""
        self._ni.count(Counter.OVERLONG if overlong else Counter.BAD_CRC)
        self._nic.trace(TraceEvent.NIC_DROPPED, key, Counter.BAD_CRC, message=self._buffers.message[buffer])
        await self._nic.work("receive_bad")
        self._buffers.release(buffer)

    async def _message(self, buffer: int, head: Words, length: int, early: int) -> None:
        verdicts, key, kind, source = self._verdicts, head.w0, head.type, head.source
        stream = verdicts.stream(head)
        if stream == NONE:
            await verdicts.strange(buffer, key)
        elif head.sequence != verdicts.expected[stream]:
            ahead = key - verdicts.expected[stream] & COUNTER_MASK
            if not self._ni.lossy or ahead <= MAX_WINDOW:
                await verdicts.out_of_order(buffer, key, stream)
            elif stream == verdicts.stalled and ahead == COUNTER_MASK:  # duplicate of the parked message
                await verdicts.refuse(buffer, key, source, stream, Lack.TRANSLATION)
            else:
                await verdicts.again(buffer, head, stream)
        elif stream == verdicts.stalled:
            await verdicts.refuse(buffer, key, source, stream, Lack.TRANSLATION)
        elif kind in TREES:
            await self._multicast.arrived(buffer, head, stream)
        elif kind == MessageType.CARD_SEGMENT:
            await self._card.segment(buffer, head, stream, length)
        elif head.destination == self._ends[head.channel] and MessageType.ACTIVE <= kind <= MessageType.ERROR_REPORT:
            await self._queues[head.channel].take(buffer, key, source, stream, head.channel, length, early)
        elif self._remembers(head) and MessageType.RM_V <= kind <= MessageType.RM_REPLY:
            await self._remote.arrived(buffer, head, stream)
        else:
            cause = Cause.UNKNOWN_TYPE if head.destination == self._ni.endpoint else Cause.UNKNOWN_ENDPOINT
            await verdicts.impossible(buffer, key, source, stream, cause)

    def _remembers(self, head: Words) -> bool:
        """Return True if a message names the host, or the FPGA card on its channel, which have remote memory."""
        return head.destination in (self._ni.endpoint, self._ends[head.channel])

    async def overrun(self) -> None:
        """Handle BUFF: a packet longer than any message. Receive the rest of it over the same buffer, and drop it at
        its tail.
        """
        self._nic.write(Reg.ISR, BUFF)
        self._overlong = True
        await self._nic.work("receive_overlong")
        self._buffers.rewind(self._buffers.armed)
