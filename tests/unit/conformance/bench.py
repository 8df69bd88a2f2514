"""Hosts with mail whose NICs can be reset, and messages whose bytes identify their source."""

from __future__ import annotations

from collections.abc import Sequence

from firmware.common.host import card
from firmware.layers import open_mail
from firmware.mail import Mail
from pymodels.machine.processor import ModelProcessor
from tests.unit.layers.mail_bench import MailBench

REST_US = 500.0


def message(source: int, target: int, number: int, size: int) -> bytes:
    """Return bytes that depend on sender, receiver, number and position."""
    salt = 31 * source + 57 * target + 101 * number
    return bytes((salt + at + 13 * (at >> 8)) & 0xFF for at in range(size))


class Bench(MailBench):
    """Started hosts."""

    def rest(self, us: float = REST_US) -> None:
        """Wait until packets in flight have arrived."""
        self.machine.run(self.machine.kernel.now / 1e6 + us)

    def reset(self, nodes: Sequence[int]) -> None:
        """Reset NICs, clear their memory, and open new libraries and mail on their hosts."""
        hosts = [self.machine.host(node) for node in nodes]
        self.run(*(card.hold(host) for host in hosts))
        self.rest()
        for node in nodes:
            nic = self.machine.nics[node]
            if isinstance(nic, ModelProcessor):
                nic.sram.data[:] = bytes(nic.sram.size)
        self.run(*(card.release(host) for host in hosts))
        self.rest(5.0)
        for node in nodes:
            self.libraries[node] = self.opened(node)
            self.mails[node] = open_mail(self.layer, self.libraries[node])

    async def exchange(self, me: int, mail: Mail, size: int, rounds: int = 1) -> list[tuple[int, bytes]]:
        """Send messages to all other hosts, and return those received from them."""
        others = [node for node in range(len(self.mails)) if node != me]
        for number in range(rounds):
            for node in others:
                await mail.post(node, message(me, node, number, size))
        came = [await mail.receive() for _ in range(rounds * len(others))]
        await mail.posted()
        return came

    def expected(self, me: int, size: int, rounds: int = 1) -> list[tuple[int, bytes]]:
        """Return the messages that `exchange` receives on a host, by sender in order."""
        others = [node for node in range(len(self.mails)) if node != me]
        return [(node, message(node, me, number, size)) for node in others for number in range(rounds)]
