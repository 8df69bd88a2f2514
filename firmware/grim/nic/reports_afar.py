"""Reports to other hosts: of copies for a multicast tree that failed, to the host that sent the message.

A report is a message to an endpoint, which may be full until its host reads. So reports have places of their own, and
of these each host gets one at a time: a host that does not read holds up what it is told, and neither the reports to
others nor the replies to remote reads, which wait for NIs and drivers only.

While `TOKENS` or more reports wait for a place, the NI makes no further copies: at most those in the trees' scoreboards
can still fail, which hold fewer than `TOKENS`. Reports to a NI that has restarted are dropped, like all messages to it.
"""

from __future__ import annotations

from collections import deque

from firmware.grim.formats import TOKENS, Device, MessageType, endpoint
from firmware.grim.nic.channels import WAITING
from firmware.grim.nic.layout import ROUTE_BYTES
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing


class ReportsAfar:
    """The reports of one NI to other hosts."""

    def __init__(self, ni: Ni, outgoing: Outgoing) -> None:
        self._ni, self._nic, self._outgoing = ni, ni.nic, outgoing
        self._waiting: dict[int, deque[tuple[int, ...]]] = {}
        """By VNN, the host whose turn is next first: the channel, and the last words of each report."""

    @property
    def waiting(self) -> int:
        """Reports that wait for a place."""
        return sum(map(len, self._waiting.values()))

    @property
    def full(self) -> bool:
        """No copy that could fail is made for now."""
        return self.waiting >= TOKENS

    def forget(self, peer: int) -> None:
        """A NI has restarted, or is down."""
        self._waiting.pop(peer, None)

    async def tell(self, vnn: int, channel: int, *arguments: int) -> None:
        """A copy has failed: w1, w3 and the arguments of the report to a host's channel."""
        self._waiting.setdefault(vnn, deque()).append((channel, *arguments))
        await self.go_on()

    async def go_on(self) -> None:
        """Send what can be sent: of each host in turn, when it has none under way, one report."""
        outgoing, places = self._outgoing, self._outgoing.reports
        for vnn, waiting in list(self._waiting.items()):
            target, *arguments = waiting[0]
            slot = outgoing.report(vnn, target)
            if slot is None:
                continue
            del self._waiting[vnn]
            waiting.popleft()
            if waiting:
                self._waiting[vnn] = waiting  # behind the others
            await self._nic.work("error_report")
            w1, w3 = MessageType.ERROR_REPORT << 26 | self._ni.endpoint, places.index << 24 | target << 16
            at = places.base + places.offset[slot] + ROUTE_BYTES + 4
            self._nic.store_words(at, (w1, endpoint(vnn, Device.HOST), w3, *arguments))
            places.state[slot] = WAITING
            outgoing.streams.wake(places.stream[slot])
