"""Does a message layer keep the promises of its descriptor on RTL?

Strategy: mail on all hosts. All post to all before they receive. Then each host sends messages of mixed sizes to the
next one, which receives late, from one buffer that changes once `send` has returned. Every host compares the received
messages with the sent ones: each once, and in order if the layer promises that. Settings of the network add faults.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.layers import with_mail
from firmware.mail import Mail, Message
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.mail import all_mails

CLUSTER = "four_hosts"
LAYERS = with_mail()
OPTIONS = {
    "ordered": Option(1, "1: messages of one host must arrive in order", 0, 1),
    "late_us": Option(60, "the receivers begin so long after the senders", 0, 10_000, unit="us"),
}
SHORT, ROUNDS = 48, 2
SIZES = (1, 64, 3, 700, 33, 1024, 4)


def message(source: int, target: int, number: int, size: int) -> bytes:
    """Return bytes that depend on sender, receiver, number and position."""
    salt = 31 * source + 57 * target + 101 * number
    return bytes((salt + at + 13 * (at >> 8)) & 0xFF for at in range(size))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    mails = await all_mails(lab)
    hosts = [_Host(lab, mails, me) for me in range(len(mails))]
    await lab.all([lab.spawn(host.run(), f"program of {host.me}") for host in hosts])
    lab.metric("received", sum(host.received for host in hosts))


class _Host:
    """Program of one host."""

    def __init__(self, lab: Lab, mails: Sequence[Mail], me: int) -> None:
        self.me, self.received = me, 0
        self._lab, self._mail, self._nodes = lab, mails[me], len(mails)

    async def run(self) -> None:
        """Exchange short messages with all, then send to the next host and receive late."""
        mail, nodes, lab = self._mail, self._nodes, self._lab
        others = [node for node in range(nodes) if node != self.me]
        for number in range(ROUNDS):
            for node in others:
                await mail.post(node, message(self.me, node, number, SHORT))
        due = [(node, message(node, self.me, number, SHORT)) for node in others for number in range(ROUNDS)]
        await self._receive(due)
        await mail.posted()
        following, before = (self.me + 1) % nodes, (self.me - 1) % nodes
        buffer = bytearray(max(SIZES))
        for number, size in enumerate(self._sizes()):
            view = memoryview(buffer)[:size]
            view[:] = message(self.me, following, ROUNDS + number, size)
            await mail.post(following, bytes(view))
            view[:] = bytes(size)
        await lab.kernel.sleep(lab.option("late_us") * 1_000_000, "other work")
        await self._receive(
            [(before, message(before, self.me, ROUNDS + number, size)) for number, size in enumerate(self._sizes())]
        )
        await mail.posted()
        await mail.finish()

    def _sizes(self) -> list[int]:
        return [min(size, self._mail.most) for size in SIZES]

    async def _receive(self, due: Sequence[Message]) -> None:
        """Receive as many messages as are due, and compare them."""
        came = [await self._mail.receive() for _ in due]
        ordered = bool(self._lab.option("ordered"))
        same = sorted(came, key=lambda one: one[0]) == due if ordered else sorted(came) == sorted(due)
        self._lab.check("received messages", same, f"host {self.me} did not receive what was sent")
        self.received += len(came)
        self._lab.findings.messages += len(came)
