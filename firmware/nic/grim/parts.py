"""The parts of the firmware, each made of those before it."""

from __future__ import annotations

from firmware.nic.grim.answers import Answers
from firmware.nic.grim.buffering import Buffering
from firmware.nic.grim.buffers import Buffers
from firmware.nic.grim.clock import Clock, TickingClock
from firmware.nic.grim.connections import Connections
from firmware.nic.grim.controls import Controls
from firmware.nic.grim.cutting import CutThrough
from firmware.nic.grim.delivery import Delivery
from firmware.nic.grim.dma_ends import DmaEnds
from firmware.nic.grim.endpoints import Endpoints
from firmware.nic.grim.fetching import Fetching
from firmware.nic.grim.intake import Intake
from firmware.nic.grim.layout import E2L_CHAIN, L2E_CHAIN
from firmware.nic.grim.losses import LossyAnswers
from firmware.nic.grim.multicast import Multicast
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.notices import Notices
from firmware.nic.grim.outgoing import Outgoing
from firmware.nic.grim.peers import Peers
from firmware.nic.grim.receiving import Receiver
from firmware.nic.grim.remote import Remote
from firmware.nic.grim.reports import Reports
from firmware.nic.grim.retries import Retries
from firmware.nic.grim.search import Search
from firmware.nic.grim.sending import Sender
from firmware.nic.grim.sentinels import Sentinels
from firmware.nic.grim.timeouts import Timeouts
from firmware.nic.grim.transmitter import Transmitter
from firmware.nic.grim.two_pieces import HybridTransmitter
from firmware.nic.grim.verdicts import Verdicts
from firmware.nic.hardware import host_dma


class Parts:
    """All of one NI."""

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
        self.cut_through = CutThrough(ni, sentinels, buffers, verdicts, endpoints, delivery)
        both = options.buffering == "both"
        self.buffering = Buffering(ni, buffers, verdicts, endpoints, delivery, intake) if both else None

        self.search = Notices(ni, outgoing.channels) if options.doorbell_notify else Search(nic, outgoing.channels)
        reports = Reports(ni, outgoing, endpoints, self.buffering, delivery, clock, self.search)
        losses = LossyAnswers(ni, outgoing, transmitter, reports, ticking, self.search) if ticking else None
        self.answers = answers = losses or Answers(ni, outgoing, transmitter, reports, clock, self.search)

        self.remote = remote = Remote(ni, outgoing, buffers, verdicts, delivery, answers)
        self.multicast = multicast = Multicast(
            ni, outgoing, buffers, verdicts, endpoints, self.buffering, delivery, answers, clock
        )
        self.fetching = Fetching(ni, self.dma, outgoing, endpoints, delivery) if options.dma_inject else None
        self.sender = Sender(ni, outgoing, transmitter, multicast, self.fetching, losses)

        self.peers: Peers
        self.timer: Retries | Timeouts
        if ticking and losses:
            connections = Connections(ni, transmitter, losses, verdicts, remote, reports, outgoing.unfinished, ticking)
            self.peers, self.timer = connections, Timeouts(ni, outgoing, losses, reports, ticking, connections)
        else:
            self.peers, self.timer = Peers(ni, transmitter), Retries(clock, reports)

        controls, queues = Controls(answers, self.peers), self.buffering or intake
        self.receiver = Receiver(ni, buffers, verdicts, self.cut_through, intake, queues, multicast, remote, controls)
        self.dma_ends = DmaEnds(ni, delivery, buffers, self.cut_through, self.buffering, multicast, remote, reports)
