"""Reports to other hosts: failed copies for a multicast tree, reported to the host that sent the message.

A report is a message to an endpoint, which may be full until its host reads. So reports have places of their own, and
each host gets one report at a time. A host that does not read delays only its own reports, not those to other hosts. It
does not delay the replies to remote reads either, which depend only on NIs and drivers.

While `TOKENS` or more reports wait for a place, the NI makes no further copies. Only the copies in the trees'
scoreboards, fewer than `TOKENS`, can then still fail. Reports to a NI that has restarted are dropped, like all messages
to it.
"""

from __future__ import annotations

from collections import deque

from firmware.grim.formats import TOKENS, Device, MessageType, endpoint
from firmware.grim.nic.channels import WAITING
from firmware.grim.nic.layout import ROUTE_BYTES
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing


class ReportsAfar:
    """Reports of one NI to other hosts."""

    def __init__(self, ni: Ni, outgoing: Outgoing) -> None:
        self._ni, self._nic, self._outgoing = ni, ni.nic, outgoing
        self._waiting: dict[int, deque[tuple[int, ...]]] = {}
        """Waiting reports (channel, w1, w3, arguments) by VNN; the host whose turn is next comes first."""

    @property
    def waiting(self) -> int:
        """Number of reports that wait for a place."""
        return sum(map(len, self._waiting.values()))

    @property
    def full(self) -> bool:
        """True while no further copies may be made, because their failure could not be reported."""
        return self.waiting >= TOKENS

    def forget(self, peer: int) -> None:
        """Drop the reports to a NI that is down or has restarted."""
        self._waiting.pop(peer, None)

    async def queue_report(self, vnn: int, channel: int, *arguments: int) -> None:
        """Queue a report to a host's channel: w1, w3 and the arguments of its header."""
        self._waiting.setdefault(vnn, deque()).append((channel, *arguments))
        await self.go_on()

    async def go_on(self) -> None:
        """Send one report to each host that has no unanswered report, in turn, as far as places are free."""
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
