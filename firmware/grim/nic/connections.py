"""Reconnection of two NIs after one was down or restarted (with the time-out extension).

A NI counts its epochs separately for each other NI. It increments the count when it declares that NI down. When its
program starts, it takes the highest count of all plus one; a word of SRAM that a reset does not clear keeps that count.
A notice carries the count of its sender; an answer repeats it and adds the count of the answering NI. The sum of both
counts identifies the connection. Its low bits are in every packet between the two, so packets of an earlier connection
are dropped, however late they arrive.

- A notice with a new count, or a time-out that declares a NI down, ends the connection. Every message to that NI fails
  at its sender, packets from it are dropped, and this NI's host discards its incomplete messages.
- A NI that is down gets a notice every time-out, so the connection recovers whichever side was wrong.
- When nothing of the old connection is left, a notice is answered, or the answer to this NI's own notice is accepted.
  Sequence numbers then begin at 0.
"""

from __future__ import annotations

from firmware.grim.formats import (
    COUNTER_MASK,
    TAG,
    TAG_SHIFT,
    Cause,
    Device,
    MessageType,
    Words,
    control,
    distance,
    endpoint,
)
from firmware.grim.nic.card_messages import CardMessages
from firmware.grim.nic.clock import TickingClock
from firmware.grim.nic.delivery.unfinished import Unfinished
from firmware.grim.nic.layout import NONE, Counter, Word
from firmware.grim.nic.losses import LossyAnswers
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.peers import Peers
from firmware.grim.nic.remote_memory.remote import Remote
from firmware.grim.nic.reports import Reports
from firmware.grim.nic.transmitter import Transmitter
from firmware.grim.nic.verdicts import Verdicts
from pymodels.trace import TraceEvent


class Connections(Peers):
    """Connection state between this NI and every other NI."""

    def __init__(
        self,
        ni: Ni,
        transmitter: Transmitter,
        answers: LossyAnswers,
        verdicts: Verdicts,
        card: CardMessages,
        remote: Remote,
        reports: Reports,
        unfinished: Unfinished,
        clock: TickingClock,
    ) -> None:
        super().__init__(ni, transmitter)
        self._answers, self._verdicts, self._card, self._remote = answers, verdicts, card, remote
        self._reports, self._unfinished, self._clock = reports, unfinished, clock
        first = self.nic.load(Word.BEGINNINGS) + 1 & COUNTER_MASK
        self.nic.store(Word.BEGINNINGS, first)
        self._mine = [first] * ni.nodes
        self._theirs: list[int | None] = [None] * ni.nodes
        for peer in ni.peers:
            ni.tags[peer] = NONE

    # ---- notices

    def notice(self, peer: int) -> None:
        """Send this NI's epoch to another NI."""
        self._tell_count(peer, self._mine[peer])

    async def ask_again(self) -> None:
        """Send a notice to every NI that is down."""
        for peer in sorted(self.ni.down):
            if self._clean(peer):
                await self.nic.work("sync_notice")
                self.notice(peer)

    async def noticed(self, notice: Words) -> None:
        """Process a notice. A new epoch of the other NI starts a connection once nothing of the old one is left."""
        peer, count = notice.source, notice.token
        known = self._theirs[peer]
        await self._hear(peer)
        if known is None or distance(count, known) > 0:
            if self.ni.tags[peer] != NONE:
                await self._part(peer)
            if not self._clean(peer):  # the other NI repeats its notice
                return
            self._join(peer, count)
        elif count == known and self.ni.tags[peer] == NONE:
            if not self._clean(peer):
                return
            self._join(peer, count)
        answer = control(MessageType.SYNC_ANSWER, self._mine[peer], self._theirs[peer] or 0, self.ni.me)
        self.transmitter.answer(peer, answer)

    async def confirmed(self, answer: Words) -> None:
        """Process the answer to a notice, which may be an old one, or may name a later epoch than this NI's own."""
        peer, count, mine = answer.source, answer.token, answer.sequence
        await self.nic.work("sync_answered")
        if mine == self._mine[peer]:
            if self.ni.tags[peer] == NONE and self._clean(peer):
                self._join(peer, count)
            if self.ni.tags[peer] != NONE:
                self.heard.add(peer)
                self.answered.add(peer)
        elif self.ni.tags[peer] == NONE and distance(mine, self._mine[peer]) > 0:
            self._begin_epoch(peer, mine + 1 & COUNTER_MASK)

    # ---- end and start of a connection

    async def give_up(self, peer: int) -> None:
        """End the connection with a NI that does not respond, and begin a new epoch for it."""
        self._begin_epoch(peer, self._mine[peer] + 1 & COUNTER_MASK)
        await self._part(peer)

    def _begin_epoch(self, peer: int, count: int) -> None:
        """Set this NI's epoch for another NI. The highest epoch is kept in SRAM for the next start of the program."""
        self._mine[peer] = count
        if distance(count, self.nic.load(Word.BEGINNINGS)) > 0:
            self.nic.store(Word.BEGINNINGS, count)

    async def _part(self, peer: int) -> None:
        self.ni.tags[peer] = NONE
        self.ni.count(Counter.PARTED)
        self.nic.trace(TraceEvent.PARTED, 0, peer)
        self._clock.start()
        await self._answers.close(peer)
        self._unfinished.forget(peer)
        self._card.forget(peer)
        self._verdicts.forget(peer)
        self._remote.forget(peer)
        self._reports.afar.forget(peer)
        for channel in range(self.ni.options.channels):
            await self._reports.queue_report(channel, endpoint(peer, Device.HOST), Cause.RESTARTED, 0, 0)

    def _clean(self, peer: int) -> bool:
        """Return True if nothing of an ended connection is left on this NI.

        Copies for a multicast tree may already wait for the first connection, because their parent connected earlier.
        """
        answers = self._answers
        outgoing = answers.is_late(peer) or answers.owes(peer) or self._unfinished.has(peer)
        left = peer in self.ni.down and outgoing
        return not (left or self._reports.pending or self._remote.has_to_do_with(peer))

    def _join(self, peer: int, count: int) -> None:
        """Start a new connection."""
        self._theirs[peer] = count
        self.ni.tags[peer] = self._mine[peer] + count << TAG_SHIFT & TAG
        self.nic.trace(TraceEvent.JOINED, 0, peer)
        if peer in self.ni.down:
            self._answers.open(peer)
