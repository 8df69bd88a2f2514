"""What a sender does with answers: ACK frees, NACK rolls one stream back, ERROR frees and is reported; notices of
other NIs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Iterator
from typing import Any

from firmware.nic.grim.channels import SENT, Channel, holder
from firmware.nic.grim.costs_of import ACK_PATHS, BACK_STEP_PATHS, STYLES
from firmware.nic.grim.layout import Counter, State, Word
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.receiving import Receiver
from firmware.nic.grim.sending import Sender
from pymodels.formats.grim import COUNTER_MASK, Lack, MessageType, control
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

TIME = 1 << Isr.TIME0
TICKS_PER_US = 2
"""RTC and the timers count half microseconds (fact sheet 3.1)."""
HALF = 1 << 31
REPORTS = -1
"""In place of a stream: the reports to the own host."""
LACKS = {
    Lack.ENDPOINT: ("in the endpoint queues of {}", True),
    Lack.REPLIES: ("in the queue of replies of {}", False),
    Lack.TRANSLATION: ("beside the message that waits for a translation of {}", True),
    Lack.COPIES: ("for copies of a multicast tree of {}", False),
}
"""Room for what a refused stream waits for, and whether the host makes it, or the NI."""
HINT = " (a host that is down gives none; grim.timeout_us makes that an error at the sender)"


class Answers:
    """Control messages that arrive, and the retry delay."""

    strange = Counter.STRANGE
    """What counts an answer that means no message in flight."""

    def __init__(self, ni: Ni, sender: Sender, receiver: Receiver) -> None:
        self.ni, self.nic = ni, ni.nic
        self.sender, self.receiver = sender, receiver
        self.heard: set[int] = set()
        """NIs whose notice was heard."""
        self.answered: set[int] = set()
        """NIs that answered ours."""
        self._path = STYLES * (ni.options.sequencing == "per-ni")
        self.unblocked: list[Channel] = []
        """Channels whose scoreboards had been full and are no longer."""
        self._delay = TICKS_PER_US * ni.options.retry_delay_us
        self._held: deque[tuple[int, int]] = deque()
        """When which streams go on, or the reports to the own host (REPORTS)."""
        receiver.reports.later = self._reports_later
        self._refused: dict[int, str] = {}
        """Streams that were refused and are not yet accepted: what they wait for."""
        self.nic.waits.ask(self.owed)

    def owed(self) -> Iterator[Wait]:
        """For reports of who waits for whom: NIs that have not answered. It need not be what this NI lacks, so they are
        not said to hold it.
        """
        streams, enabling = self.sender.streams, self.nic.load(Word.STATE) == State.SYNCHRONISING
        for vnn in sorted(set(self.ni.peers) - self.sender.down):
            if enabling and vnn not in self.heard & self.answered:
                yield Wait(self.nic.who, Wanted(f"{self.ni.names[vnn]} to be enabled"))
            count = sum(n for stream, n in enumerate(streams.in_flight) if streams.peer(stream) == vnn)
            if count:
                hint = "" if self.ni.options.timeout_us else HINT
                yield Wait(self.nic.who, Wanted(f"answers of {self.ni.names[vnn]} to {count} messages{hint}"))

    async def seen(self, key: int, w1: int) -> None:
        """A control message has arrived."""
        kind, peer = w1 >> 26, w1 >> 8 & 0xFF
        if kind == MessageType.ACK:
            await self._ack(key, w1)
        elif kind == MessageType.NACK:
            await self._nack(key, w1)
        elif kind == MessageType.ERROR:
            await self._error(key, w1)
        elif kind == MessageType.SYNC:
            await self._sync(key, peer)
        elif kind == MessageType.SYNC_ANSWER:
            await self._sync_answered(key, peer)
        else:
            await self._strange()

    async def _strange(self) -> None:
        self.ni.count(self.strange)
        await self.nic.work("answer_strange")

    def _message(self, key: int, w1: int) -> tuple[Channel, int] | None:
        """Channel and slot of the message in flight that an answer means."""
        token = key >> 8 & COUNTER_MASK
        at = holder(self.sender.streams.channels, self.sender.own.index, token)
        if at is None:
            return None
        channel, slot = at
        ok = channel.state[slot] == SENT and channel.sequence[slot] == key & COUNTER_MASK
        return (channel, slot) if ok and self.sender.streams.peer(channel.stream[slot]) == w1 >> 8 & 0xFF else None

    async def _ack(self, key: int, w1: int) -> None:
        message = self._message(key, w1)
        if message is None:
            await self._strange()
            return
        self.nic.trace(TraceEvent.ACK_SEEN, key, w1 >> 8 & 0xFF)
        await self.nic.work(ACK_PATHS[message[0].style])
        self.ni.count(Counter.ACKS_SEEN)
        await self.finish(*message)

    async def link_free(self) -> None:
        """The send engine has ended; only the time-out extension cares."""

    def finish(self, channel: Channel, slot: int) -> Coroutine[Any, Any, None]:
        """A message in flight is answered, and needs no more care."""
        self.sender.streams.in_flight[channel.stream[slot]] -= 1
        return self._free(channel, slot)

    async def _free(self, channel: Channel, slot: int) -> None:
        """Free what can be freed, and let what waited for it go on."""
        streams, stream = self.sender.streams, channel.stream[slot]
        self._has_room(stream)
        freed = channel.done(slot)
        if freed > 1:
            await self.nic.work("free_message", freed - 1)
        if streams.waiting[stream]:
            streams.wake(stream)
        if channel.blocked and freed:
            channel.blocked = False
            self.unblocked.append(channel)
        if channel is self.sender.own:
            await self.receiver.reports.go_on()

    async def _nack(self, key: int, w1: int) -> None:
        """Roll back the message's stream, no other one; send again after the retry delay."""
        message = self._message(key, w1)
        if message is None:
            await self._strange()
            return
        channel, slot = message
        self.nic.trace(TraceEvent.NACK_SEEN, key, w1 >> 8 & 0xFF)
        await self.nic.work("nack_seen")
        taken = await self._roll_back(channel, slot)
        self._lacks_room(channel.stream[slot], w1 >> 8 & 0xFF, Lack(w1 >> 21 & 0x1F))
        self.ni.count(Counter.NACKS_SEEN)
        self.nic.trace(TraceEvent.ROLLBACK, key, taken)
        await self.later(channel.stream[slot])

    def _lacks_room(self, stream: int, peer: int, lack: Lack) -> None:
        """For reports of who waits for whom: a stream waits until host or NI at its end makes room."""
        room, is_of_host = LACKS[lack]
        room = f"room {room.format(f'VNN {peer}')} (stream {stream})"
        if self._refused.get(stream) != room:
            self._has_room(stream)
            self._refused[stream] = room
            self.nic.waits.want(self.nic.who, room, f"host {self.ni.names[peer]}" if is_of_host else f"NIC {peer}")

    def _has_room(self, stream: int) -> None:
        """It waits no longer."""
        if stream in self._refused:
            self.nic.waits.got(self.nic.who, self._refused.pop(stream))

    async def _roll_back(self, channel: Channel, slot: int) -> int:
        """Take a message in flight and what followed it in its stream back; how many messages."""
        streams, stream = self.sender.streams, channel.stream[slot]
        taken, looked_at = streams.take_back(channel, slot)
        await self.nic.work(BACK_STEP_PATHS[self._path + channel.style], looked_at)
        self.sender.withdraw(stream)
        streams.in_flight[stream] -= taken
        streams.waiting[stream] += taken
        streams.cursor[stream] = streams.place(channel, slot)
        self.ni.count(Counter.ROLLED_BACK, taken)
        return taken

    async def later(self, stream: int) -> None:
        """A stream goes on after the retry delay."""
        if self._delay:
            await self._hold(stream)
        else:
            self.sender.streams.wake(stream)

    async def _hold(self, stream: int) -> None:
        """Keep a stream back for the retry delay."""
        self.sender.streams.held[stream] = True
        await self._due(stream, self._delay)

    async def _reports_later(self) -> None:
        """Look after the retry delay again whether the own host has room for reports; at the earliest with the timer's
        next tick.
        """
        await self._due(REPORTS, max(self._delay, 1))

    async def _due(self, what: int, delay: int) -> None:
        """Something goes on after a delay. Delays are equal, so they end in the order in which they began."""
        now = await self.nic.read(Reg.RTC)
        await self.nic.work("retry_hold")
        self._held.append((now + delay & 0xFFFFFFFF, what))
        if len(self._held) == 1:
            self._arm(now)

    def _arm(self, now: int) -> None:
        """Set the timer to what is due next."""
        if self._held:
            self.nic.write(Reg.IT0, self._held[0][0] - now & 0xFFFFFFFF)

    async def timer(self) -> None:
        """TIME0: the delays that are over end; the timer goes on with the next."""
        self.nic.write(Reg.ISR, TIME)
        now = await self.nic.read(Reg.RTC)
        await self._release(now)
        self._arm(now)

    async def _release(self, now: int) -> None:
        """End the delays that are over."""
        streams, released, reports = self.sender.streams, 0, False
        while self._held and (now - self._held[0][0] & 0xFFFFFFFF) < HALF:
            _, what = self._held.popleft()
            released += 1
            if what == REPORTS:
                reports = True
            else:
                streams.held[what] = False
                streams.wake(what)
        await self.nic.work("retry_release", max(released, 1))
        if reports:
            await self.receiver.reports.again()

    async def _error(self, key: int, w1: int) -> None:
        """The message can never succeed: it is freed, and the host is told."""
        message = self._message(key, w1)
        if message is None:
            await self._strange()
            return
        await self.nic.work("error_seen")
        self.ni.count(Counter.ERRORS_SEEN)
        await self.failed(*message, w1 >> 21 & 0x1F)

    async def failed(self, channel: Channel, slot: int, cause: int) -> None:
        """A message is freed, and the host is told why it could not succeed."""
        await self.receiver.reports.failed(channel, slot, cause)
        await self.finish(channel, slot)

    async def replied(self, key: int, peer: int) -> None:
        """What a remote read asked for is stored: its message is acknowledged (paper 000, 4.5.4)."""
        message = self._message(key, peer << 8)
        if message is None:
            self.ni.count(Counter.STRANGE)
        else:
            self.nic.trace(TraceEvent.ACK_SEEN, key, peer)
            self.ni.count(Counter.ACKS_SEEN)
            await self.finish(*message)

    async def failed_here(self, key: int, peer: int, cause: int) -> None:
        """A remote read was answered, but its data have no place here: the host is told, the message is freed."""
        message = self._message(key, peer << 8)
        if message is not None:
            await self.failed(*message, cause)

    def notice(self, peer: int) -> None:
        """Tell a NI that this one is reset."""
        self.sender.answer(peer, control(MessageType.SYNC, 0, 0, self.ni.me))
        self.ni.count(Counter.SYNC_SENT)
        self.nic.trace(TraceEvent.SYNC_SENT, 0, peer)

    async def _sync_answered(self, key: int, peer: int) -> None:
        """Another NI has heard the notice."""
        self.answered.add(peer)
        await self.nic.work("sync_answered")

    async def _sync(self, key: int, peer: int) -> None:
        """Another NI is reset: it has been heard, and is told so."""
        self.heard.add(peer)
        self.nic.trace(TraceEvent.SYNC_SEEN, 0, peer)
        await self.nic.work("sync_heard")
        self.sender.answer(peer, control(MessageType.SYNC_ANSWER, 0, 0, self.ni.me))
