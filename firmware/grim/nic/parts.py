"""Construction of the firmware's parts; each part uses those constructed before it."""

from __future__ import annotations

from firmware.common.nic import host_dma
from firmware.grim.nic.answers import Answers
from firmware.grim.nic.card_messages import CardMessages
from firmware.grim.nic.card_power import CardPower
from firmware.grim.nic.clock import Clock, TickingClock
from firmware.grim.nic.connections import Connections
from firmware.grim.nic.controls import Controls
from firmware.grim.nic.delivery.buffering import Buffering
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.cutting import CutThrough
from firmware.grim.nic.delivery.delivery import Delivery
from firmware.grim.nic.delivery.dma_ends import DmaEnds
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.delivery.intake import Intake
from firmware.grim.nic.delivery.sentinels import Sentinels
from firmware.grim.nic.fetching import Fetching
from firmware.grim.nic.layout import E2L_CHAIN, L2E_CHAIN
from firmware.grim.nic.losses import LossyAnswers
from firmware.grim.nic.multicast import Multicast
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.notices import Notices
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.peers import Peers
from firmware.grim.nic.receiving import Receiver
from firmware.grim.nic.remote_memory.remote import Remote
from firmware.grim.nic.reports import Reports
from firmware.grim.nic.retries import Retries
from firmware.grim.nic.search import Search
from firmware.grim.nic.sending import Sender
from firmware.grim.nic.timeouts import Timeouts
from firmware.grim.nic.transmitter import Transmitter
from firmware.grim.nic.two_pieces import HybridTransmitter
from firmware.grim.nic.verdicts import Verdicts


class Parts:
    """All firmware parts of one NI."""

    def __init__(self, ni: Ni) -> None:
        nic, layout, options = ni.nic, ni.layout, ni.options
        self.dma = host_dma(nic, {L2E_CHAIN: layout.blocks, E2L_CHAIN: layout.fetches})
        delivery = Delivery(ni, self.dma, layout.blocks, layout.pointers, layout.blocks_count, L2E_CHAIN)
        self.delivery, self.endpoints = delivery, Endpoints(ni)
        endpoints = self.endpoints

        self.outgoing = outgoing = Outgoing(ni)
        ticking = TickingClock(ni, outgoing.streams) if ni.lossy else None
        clock = ticking or Clock(ni, outgoing.streams)
        transmitting = HybridTransmitter if options.queue_style == "hybrid" else Transmitter
        self.transmitter = transmitter = transmitting(ni, outgoing.order, outgoing.streams, clock)

        sentinels = Sentinels(ni)
        self.buffers = buffers = Buffers(ni, sentinels)
        self.verdicts = verdicts = Verdicts(ni, transmitter, buffers)
        intake = Intake(ni, buffers, verdicts, endpoints, delivery)
        card = CardMessages(ni, verdicts, endpoints, intake, delivery)
        self.cut_through = CutThrough(ni, sentinels, buffers, verdicts, endpoints, delivery)
        both = options.buffering == "both"
        self.buffering = Buffering(ni, buffers, verdicts, endpoints, delivery, intake) if both else None

        self.search = Notices(ni, outgoing.channels) if options.doorbell_notify else Search(nic, outgoing.channels)
        reports = Reports(ni, outgoing, endpoints, self.buffering, delivery, clock, self.search)
        losses = LossyAnswers(ni, outgoing, transmitter, reports, ticking, self.search) if ticking else None
        self.answers = answers = losses or Answers(ni, outgoing, transmitter, reports, clock, self.search)

        self.remote = remote = Remote(ni, outgoing, buffers, verdicts, endpoints, delivery, answers)
        self.card_power = CardPower(ni, self.dma, delivery, endpoints, card, outgoing, reports, self.search)
        remote.card_step = self.card_power.step
        self.multicast = multicast = Multicast(
            ni, outgoing, buffers, verdicts, endpoints, self.buffering, delivery, answers, clock
        )
        self.fetching = Fetching(ni, self.dma, outgoing, endpoints, delivery) if options.dma_inject else None
        self.sender = Sender(ni, outgoing, transmitter, multicast, self.fetching, losses)

        self.peers: Peers
        self.timer: Retries | Timeouts
        if ticking and losses:
            connections = Connections(
                ni, transmitter, losses, verdicts, card, remote, reports, outgoing.unfinished, ticking
            )
            self.peers, self.timer = connections, Timeouts(ni, outgoing, losses, reports, ticking, connections)
        else:
            self.peers, self.timer = Peers(ni, transmitter), Retries(clock, reports)

        controls, queues = Controls(answers, self.peers), self.buffering or intake
        self.receiver = Receiver(ni, buffers, verdicts, self.cut_through, card, queues, multicast, remote, controls)
        self.dma_ends = DmaEnds(ni, delivery, buffers, self.cut_through, self.buffering, multicast, remote, reports)
