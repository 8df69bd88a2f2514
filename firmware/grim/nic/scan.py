"""Main loop: its events, and the step for each.

While a prepared message waits for the link, a shorter loop runs that omits the streams to resend and the channels.
"""

from __future__ import annotations

from collections.abc import Set

from firmware.common.nic import Loop, Service, Step, WatchedService
from firmware.common.nic.host_dma import ABORTED, flag_watch
from firmware.grim.channel_map import NO_CARD
from firmware.grim.nic.delivery.delivery import NO_BUFFER
from firmware.grim.nic.layout import E2L_CHAIN, L2E_CHAIN, STARTED, HostQueue, State, Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.parts import Parts
from firmware.grim.nic.receiving import BUFF
from firmware.grim.nic.remote_memory.remote import INTERRUPT, SIGNAL
from firmware.grim.nic.timed_search import SearchTimer
from firmware.verbs import Watch
from pymodels.registers import Isr, Reg

TIME = 1 << Isr.TIME0


class Firmware:
    """Firmware of one NI."""

    def __init__(self, ni: Ni) -> None:
        self.ni, self.nic = ni, ni.nic
        self.parts = Parts(ni)
        self._aborts = ABORTED if ni.card_channel != NO_CARD else 0
        """Bit of ISR for a transfer that a card without power has not answered."""
        self._repeat = True
        """True during synchronisation when notices are due."""
        hardware, options = self._hardware(), ni.options
        self._hold = Loop(self.nic, hardware)
        self._scan = Loop(self.nic, [*hardware, *self._messages()])
        waits = options.hybrid_wait or not options.control_queue
        self._link = Loop(self.nic, [self._sent()]) if waits else self._hold

    # ---- events

    def _hardware(self) -> list[WatchedService]:
        """Return the steps for events of the NIC's engines and of the host."""
        parts = self.parts
        woken: dict[int, Step] = {L2E_CHAIN: parts.dma_ends.done}
        if parts.fetching is not None:
            woken[E2L_CHAIN] = parts.fetching.done
        dma, *further = parts.dma.services(woken, "poll_flag")
        return [
            (flag_watch("poll_receive", 1 << Isr.RECV), parts.receiver.packet),
            self._sent(),
            dma,
            (flag_watch("poll_flag", TIME | BUFF | SIGNAL | self._aborts), self._rare),
            *further,
            *parts.cut_through.services(),
            *(parts.buffering.services() if parts.buffering is not None else ()),
        ]

    def _sent(self) -> Service:
        """Return the step for the end of a send."""
        return flag_watch("poll_flag", 1 << Isr.SEND), self.parts.answers.sent

    def _messages(self) -> list[WatchedService]:
        """Return the steps for messages that may leave: retransmissions and new messages."""
        parts, sender = self.parts, self.parts.sender
        return [
            (Watch(Word.RESEND, 0, "poll_resend"), sender.resend),
            *(SearchTimer(self.ni, parts.outgoing.channels).services() if self.ni.options.search_timer else ()),
            *parts.search.services(sender.new_message),
        ]

    async def _rare(self) -> None:
        flags = await self.nic.read(Reg.ISR)
        if flags & self._aborts:
            await self.parts.card_power.aborted()
        elif flags & BUFF:
            await self.parts.receiver.overrun()
        elif flags & SIGNAL:
            await self.parts.remote.signalled()
        elif self.nic.load(Word.STATE) == State.SYNCHRONISING:
            self.nic.write(Reg.ISR, TIME)
            self._repeat = True
        else:
            await self.parts.timer.timer()

    # ---- start and main loop

    async def run(self) -> None:
        """Wait for the host, synchronise with the other NIs, then run the main loop forever."""
        await self._start()
        await self._synchronise()
        await self._tell_host()
        transmitter = self.parts.transmitter
        while True:
            loop = self._link if transmitter.stuck else self._scan if transmitter.prepared is None else self._hold
            await loop.steps[await loop.run()]()

    async def _start(self) -> None:
        """Wait until the host has initialised the channel registers; take over its queues and arm the first receive
        buffer.
        """
        start = self.nic.poll_loop([Watch(Word.START, 0, "poll_start")])
        while self.nic.load(Word.START) != STARTED:
            await start.run()
        self.parts.endpoints.start()
        self.parts.buffers.arm(0)
        self.nic.write(Reg.EIMR, INTERRUPT)

    async def _synchronise(self) -> None:
        """Send notices until every partner has answered and its own notice has arrived (readings B9)."""
        self.ni.set_state(State.SYNCHRONISING)
        peers, period = self.parts.peers, 2 * self.ni.options.sync_period_us
        told: set[int] = set()
        while not peers.met.issuperset(peers.partners):
            due = peers.due()
            if self._repeat:
                self._repeat = False
                if not self.parts.transmitter.busy:  # the notices before are still queued behind a blocked link
                    await self._notices(due)
                self.nic.write(Reg.IT0, period)
            else:  # in a tree, received notices allow further ones
                await self._notices(due - told)
            told = due
            await self._hold.steps[await self._hold.run()]()
        self.ni.set_state(State.RUNNING)

    async def _notices(self, vnns: Set[int]) -> None:
        for vnn in sorted(vnns):
            await self.nic.work("sync_notice")
            self.parts.peers.notice(vnn)

    async def _tell_host(self) -> None:
        """Write the state to the host's status word by DMA."""
        await self.nic.work("tell_host")
        delivery, status = self.parts.delivery, self.parts.endpoints.base[0] + HostQueue.STATUS
        delivery.word(State.RUNNING, status, (NO_BUFFER, 0, 0))
        await delivery.start()
