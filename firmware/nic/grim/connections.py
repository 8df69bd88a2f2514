"""Hosts that go down and come back: two NIs that start anew with each other (with the time-out extension).

A NI counts its beginnings, for each other NI by itself: in a word of SRAM that a reset leaves alone, and once more
whenever it gives the other one up. Notices tell the count, answers repeat it and tell the own one. What both counts
add up to names the connection; its low bits stand in every packet between the two, so that nothing of before is
believed, however late it comes.

- A notice with a new count, or a NI that is given up, ends the connection: every message to that NI is refused to its
  sender, what comes from it is dropped, and the own host forgets what it has of unfinished messages.
- While a NI is given up, it gets a notice every time-out. So being down ends by itself, whoever was wrong.
- When nothing of before is left, a notice is answered, or the own one's answer believed: sequence numbers begin at 0.
"""

from __future__ import annotations

from firmware.nic.grim.channels import Channel
from firmware.nic.grim.layout import NONE, ROUTE_BYTES, Counter, Word
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.receiving import Receiver
from firmware.nic.grim.sending import Sender
from firmware.nic.grim.timeouts import LOOKS, LossyAnswers
from pymodels.formats.grim import COUNTER_MASK, SEGMENTS, TAG, TAG_SHIFT, Cause, MessageType, control, distance
from pymodels.trace import TraceEvent


class ConnectedAnswers(LossyAnswers):
    """The time-out extension, and who is connected with whom."""

    def __init__(self, ni: Ni, sender: Sender, receiver: Receiver) -> None:
        super().__init__(ni, sender, receiver)
        first = self.nic.load(Word.BEGINNINGS) + 1 & COUNTER_MASK
        self.nic.store(Word.BEGINNINGS, first)
        self._mine = [first] * ni.nodes
        self._theirs: list[int | None] = [None] * ni.nodes
        self._ticks = 0
        self._unfinished: set[tuple[int, int, int]] = set()
        """Long messages of which more is to come: stream; of a copy for a tree its first sender's VNN; channel."""
        sender.entered = self._entered
        for peer in ni.peers:
            ni.tags[peer] = NONE

    # ---- notices

    def notice(self, peer: int) -> None:
        """Tell a NI of this one's beginning."""
        self.sender.answer(peer, control(MessageType.SYNC, self._mine[peer], 0, self.ni.me))
        self.ni.count(Counter.SYNC_SENT)
        self.nic.trace(TraceEvent.SYNC_SENT, 0, peer)

    async def _sync(self, key: int, peer: int) -> None:
        """A notice: the connection with a new count of the other NI begins when nothing of the old one is left."""
        count, known = key >> 8 & COUNTER_MASK, self._theirs[peer]
        self.heard.add(peer)
        self.nic.trace(TraceEvent.SYNC_SEEN, 0, peer)
        await self.nic.work("sync_heard")
        if known is None or distance(count, known) > 0:
            if self.ni.tags[peer] != NONE:
                await self._part(peer)
            if not self._clean(peer):  # it will be repeated
                return
            self._join(peer, count)
        elif count == known and self.ni.tags[peer] == NONE:
            if not self._clean(peer):
                return
            self._join(peer, count)
        answer = control(MessageType.SYNC_ANSWER, self._mine[peer], self._theirs[peer] or 0, self.ni.me)
        self.sender.answer(peer, answer)

    async def _sync_answered(self, key: int, peer: int) -> None:
        """The answer to a notice, this one's or an older one's; or the other NI knows a later count than this one."""
        count, mine = key >> 8 & COUNTER_MASK, key & COUNTER_MASK
        await self.nic.work("sync_answered")
        if mine == self._mine[peer]:
            if self.ni.tags[peer] == NONE and self._clean(peer):
                self._join(peer, count)
            if self.ni.tags[peer] != NONE:
                self.heard.add(peer)
                self.answered.add(peer)
        elif self.ni.tags[peer] == NONE and distance(mine, self._mine[peer]) > 0:
            self._mine[peer] = mine + 1 & COUNTER_MASK

    # ---- the end of a connection, and a new one

    def _entered(self, channel: Channel, slot: int) -> None:
        """A message is in the scoreboard. A long one that begins in one connection must not end in another."""
        w1, w2, w3 = self.nic.load_words(channel.base + channel.offset[slot] + ROUTE_BYTES + 4, 3)
        copy = channel.index > self.sender.own.index
        message = channel.stream[slot], w2 >> 8 & 0xFF if copy else NONE, w2 & 0xFF if copy else w3 >> 24
        if w1 >> 26 in SEGMENTS:
            self._unfinished.add(message)
        else:
            self._unfinished.discard(message)

    async def _give_up(self, peer: int) -> None:
        """No sign of life: the connection ends, and this NI will ask for a new one."""
        self._mine[peer] = self._mine[peer] + 1 & COUNTER_MASK
        await self._part(peer)

    async def _part(self, peer: int) -> None:
        self.ni.tags[peer] = NONE
        self.ni.count(Counter.PARTED)
        self.nic.trace(TraceEvent.PARTED, 0, peer)
        if not self._watched and not self._held and not self.sender.down:
            self._start_clock()
        await self.close(peer)
        self._unfinished = {message for message in self._unfinished if message[1] != peer}
        self.receiver.forget(peer)
        self.receiver.remote.forget(peer)
        for channel in range(self.ni.options.channels):
            await self.receiver.reports.tell(channel, peer << 8, Cause.BEGAN_ANEW, 0, 0)

    def _clean(self, peer: int) -> bool:
        """Whether nothing of an ended connection is left here."""
        streams = self.sender.streams
        late = self._late is not None and streams.peer(self._late[0].stream[self._late[1]]) == peer
        owed = any(streams.waiting[stream] for stream in self._of(peer))
        halves = any(streams.peer(stream) == peer for stream, _, _ in self._unfinished)
        here = self.receiver.reports.pending or self.receiver.remote.has_to_do_with(peer)
        return not (late or owed or halves or here)

    def _join(self, peer: int, count: int) -> None:
        """A new connection."""
        self._theirs[peer] = count
        self.ni.tags[peer] = self._mine[peer] + count << TAG_SHIFT & TAG
        self.nic.trace(TraceEvent.JOINED, 0, peer)
        self.open(peer)

    # ---- time

    async def _look(self) -> None:
        """A tick; once a time-out, notices to those that are down."""
        await super()._look()
        self._ticks = (self._ticks + 1) % LOOKS
        for peer in sorted(self.sender.down) if not self._ticks else ():
            if self._clean(peer):
                await self.nic.work("sync_notice")
                self.notice(peer)
