"""The main loop: one polling loop over what can happen, then the step that belongs to it.

The search of the channels (paper 000, Figure 4.10) is a polling loop of one step a channel, in order; it goes on
where it stopped. While a message is prepared and waits for the link, a shorter loop runs that leaves the channels
out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from firmware.nic.grim.answers import Answers
from firmware.nic.grim.connections import ConnectedAnswers
from firmware.nic.grim.delivery import Delivery
from firmware.nic.grim.fetching import Fetching
from firmware.nic.grim.layout import E2L_CHAIN, L2E_CHAIN, STARTED, HostQueue, State, Word
from firmware.nic.grim.multicast import Multicast
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.notices import WAKE0, Notices
from firmware.nic.grim.receiving import BUFF, Receiver
from firmware.nic.grim.remote import INTERRUPT, SIGNAL, Remote
from firmware.nic.grim.search import SearchTimer
from firmware.nic.grim.sending import Sender
from firmware.nic.grim.two_pieces import HybridSender
from firmware.nic.hardware import host_dma
from firmware.verbs import Watch
from pymodels.registers import Isr, Reg

ISR = int(Reg.ISR)
TIME = 1 << Isr.TIME0
Step = Callable[[], Awaitable[int | None]]


class Firmware:
    """The parts, the polling loops, and which part a step belongs to."""

    def __init__(self, ni: Ni) -> None:
        self.ni, self.nic = ni, ni.nic
        self.sender = HybridSender(ni) if ni.options.queue_style == "hybrid" else Sender(ni)
        layout = ni.layout
        self.dma = host_dma(self.nic, {L2E_CHAIN: layout.blocks, E2L_CHAIN: layout.fetches})
        self.delivery = Delivery(ni, self.dma, layout.blocks, layout.pointers, layout.blocks_count, L2E_CHAIN)
        self.receiver = Receiver(ni, self.sender, self.delivery)
        self.answers = (ConnectedAnswers if ni.options.timeout_us else Answers)(ni, self.sender, self.receiver)
        self.remote = Remote(ni, self.sender, self.receiver, self.delivery, self.answers)
        self.receiver.remote = self.remote
        self.multicast = Multicast(ni, self.sender, self.receiver, self.delivery, self.answers)
        woken: dict[int, Step] = {L2E_CHAIN: self.receiver.dma_done}
        if ni.options.dma_inject:
            woken[E2L_CHAIN] = Fetching(ni, self.dma, self.sender, self.receiver, self.delivery).done
        self._loops(woken)

    def _loops(self, woken: dict[int, Step]) -> None:
        """The polling loops, and the step that belongs to each of their steps. `woken`: what ends a chain's blocks."""
        ni = self.ni
        (dma_watch, dma_step), *others = self.dma.services(woken, "poll_flag")
        sent = self._sent_and_free if ni.options.timeout_us else self.sender.sent
        self._steps: list[Step] = [self._packet, sent, dma_step, self._rare]
        common = [
            Watch(ISR, 0, "poll_receive", 1 << Isr.RECV, register=True),
            Watch(ISR, 0, "poll_flag", 1 << Isr.SEND, register=True),
            dma_watch,
            Watch(ISR, 0, "poll_flag", TIME | BUFF | SIGNAL, register=True),
        ]
        common += [watch for watch, _ in others]
        self._steps += [step for _, step in others]
        cut_through, first = self.receiver.cut_through, len(common)
        watches = cut_through.watches()
        common += watches
        self._steps += [partial(cut_through.look, buffer) for buffer in range(len(watches))]
        buffering = self.receiver.buffering
        first_front = len(common)
        if buffering is not None:
            common += buffering.watches()
            self._steps += buffering.steps()
        self.notices = Notices(ni, self.sender.channels) if ni.options.doorbell_notify else None
        self.hold = self.nic.poll_loop(common)
        common.append(Watch(Word.RESEND, 0, "poll_resend"))
        self._steps.append(self.sender.resend)
        channels = [Watch(channel.back_register, 0, "poll_channel") for channel in self.sender.channels]
        if ni.options.search_timer:
            timer = SearchTimer(ni, self.sender.channels, channels)
            common.append(timer.watch())
            self._steps.append(timer.time)
        self._first_channel = len(common)
        if self.notices is None:
            common += channels
            self._steps += [self._channel_step(index) for index in range(len(self.sender.channels))]
        else:
            common += [
                Watch(Word.NEWS, 0, "poll_news"),
                Watch(ISR, 0, "poll_flag", WAKE0, register=True),
            ]
            self._steps += [self._news, self.notices.rung]
        self.scan = self.nic.poll_loop(common)
        waits = ni.options.hybrid_wait or not ni.options.control_queue
        self._link = self.nic.poll_loop([common[1]]) if waits else self.hold
        cut_through.connect((self.scan, self.hold), first)
        if buffering is not None:
            buffering.connect((self.scan, self.hold), first_front)

    async def run(self) -> None:
        """Wait for the host, synchronise with the other NIs, then serve for ever."""
        start = self.nic.poll_loop([Watch(Word.START, 0, "poll_start")])
        while self.nic.load(Word.START) != STARTED:
            await start.run()
        self.receiver.start()
        self.nic.write(Reg.EIMR, INTERRUPT)
        await self._synchronise()
        await self._tell_host()
        while True:
            if self.sender.stuck:
                await self._link.run()
                step = 1
            else:
                step = await (self.scan if self.sender.prepared is None else self.hold).run()
            await self._steps[step]()
            if self.answers.unblocked:
                self._look_again()

    # ---- steps

    async def _packet(self) -> None:
        answer = await self.receiver.packet()
        if answer is not None:
            await self.answers.seen(*answer)

    def _look_again(self) -> None:
        """Scoreboards have room again: the search looks at their channels as before."""
        for channel in self.answers.unblocked:
            if self.notices is not None:
                self.notices.news(channel)
            else:
                self.scan.expect(self._first_channel + channel.index, channel.next)
        self.answers.unblocked.clear()

    async def _sent_and_free(self) -> None:
        await self.sender.sent()
        await self.answers.link_free()

    async def _rare(self) -> None:
        flags = await self.nic.read(Reg.ISR)
        if flags & BUFF:
            await self.receiver.overrun()
        elif flags & SIGNAL:
            await self.remote.signalled()
        else:
            await self.answers.timer()

    def _channel_step(self, index: int) -> Step:
        channel = self.sender.channels[index]
        step = self._first_channel + index

        async def look() -> None:
            """A new message, or news of a channel that is blocked."""
            if channel.blocked or not await self.sender.new_message(channel):
                self.scan.expect(step, self.nic.load(channel.back_register))
            else:
                self.scan.expect(step, channel.next)

        return look

    async def _news(self) -> None:
        """With doorbells: the next message of the channel whose turn it is."""
        assert self.notices is not None
        channel = self.notices.take()
        if channel is None:
            await self.nic.work("news_nothing")
        elif await self.sender.new_message(channel):
            self.notices.news(channel)

    # ---- enable

    async def _synchronise(self) -> None:
        """Tell every other NI that this one is reset, until each has answered and been heard (readings B9)."""
        self.ni.set_state(State.SYNCHRONISING)
        peers, answers, period = set(self.ni.peers), self.answers, 2 * self.ni.options.sync_period_us
        repeat = True
        while not (peers <= answers.answered and peers <= answers.heard):
            if repeat:
                if not self.sender.busy:  # a link that is blocked still has the notices of before
                    await self._notices(peers - answers.answered)
                self.nic.write(Reg.IT0, period)
            step = await self.hold.run()
            repeat = step == 3 and not await self.nic.read(Reg.ISR) & BUFF
            if repeat:
                self.nic.write(Reg.ISR, TIME)
            else:
                await self._steps[step]()
        self.ni.set_state(State.RUNNING)

    async def _notices(self, peers: set[int]) -> None:
        for vnn in sorted(peers):
            await self.nic.work("sync_notice")
            self.answers.notice(vnn)

    async def _tell_host(self) -> None:
        """Bring the state to the host's status word."""
        await self.nic.work("tell_host")
        self.delivery.word(State.RUNNING, self.receiver.endpoints.base[0] + HostQueue.STATUS, (-1, 0, 0))
        await self.delivery.start()
