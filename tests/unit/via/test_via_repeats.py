"""Retransmissions of the kernel agents' messages.

Strategy: on the machine all packets of one node are lost, and the messages of the other node's kernel agent are
recorded. Each time-out must be about twice as long as the previous one, up to a limit. At a constant rate,
retransmissions of a few connections occupy a slow NIC, whose replies are then late.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import pytest

from firmware.via.host import Result, VipError
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.repeats import LONGEST, TRIES, limited_waits_us, waits_us
from pymodels.machine import Machine
from tb.studies.via._via import User, user
from tests.unit.via.via_bench import start

REPEAT_US, PATIENT_US, AFTER_PS = 200, 100_000, 100_000_000_000
DISCRIMINATOR = 3
SENDING_PS = 20_000_000
"""Longest time between the end of a time-out and the next message."""


class Agents:
    """Two kernel agents; `sent` has the time of each message that a node's agent sends, by type."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, node: int) -> None:
        self.machine = Machine(2)
        vias = start(self.machine, connect_us=REPEAT_US)
        self.users: list[User] = self.machine.finish(*(user(via) for via in vias))
        self.sent: dict[int, list[int]] = {}
        sender = vias[node].kernel_agent.connections.client._ends.sender
        send = sender.send

        async def record(to: int, message: Message) -> None:
            self.sent.setdefault(message.type, []).append(self.machine.kernel.now)
            await send(to, message)

        monkeypatch.setattr(sender, "send", record)

    def silence(self, node: int, first: int = 0) -> None:
        """Lose all packets of a node, from its packet `first` on."""
        for number in range(first, first + 200):
            self.machine.faults.drop(node, 1 - node, number)

    def waits_ps(self, kind: Type) -> list[int]:
        """Return the times between messages of a type."""
        return [later - earlier for earlier, later in pairwise(self.sent[kind])]


def assert_doubling(waits: list[int]) -> None:
    """Check that each wait is that of the schedule plus the time to send the message."""
    expected = [min(1 << number, LONGEST) * REPEAT_US * 1_000_000 for number in range(len(waits))]
    assert len(waits) > 5
    assert all(0 <= wait - least < SENDING_PS for wait, least in zip(waits, expected, strict=True)), waits


async def refused(call: Any, result: Result) -> None:
    with pytest.raises(VipError) as error:
        await call
    assert error.value.result is result


def test_waits_double_up_to_a_limit_and_end_after_the_tries() -> None:
    assert list(islice(waits_us(3), 8)) == [3, 6, 12, 24, 48, 96, 96, 96]
    assert list(limited_waits_us(1)) == list(islice(waits_us(1), TRIES))
    assert max(islice(waits_us(7), 100)) == 7 * LONGEST


def test_an_unanswered_request_is_retransmitted_at_doubling_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = Agents(monkeypatch, 0)

    async def run() -> None:
        vi = await agents.users[0].nic.create_vi(agents.users[0].tag)
        await refused(vi.connect_request(1, DISCRIMINATOR, PATIENT_US), Result.TIMEOUT)

    agents.machine.finish(run())
    assert_doubling(agents.waits_ps(Type.REQUEST))


def test_an_unanswered_peer_request_is_retransmitted_at_doubling_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = Agents(monkeypatch, 0)

    async def run() -> None:
        vi = await agents.users[0].nic.create_vi(agents.users[0].tag)
        await vi.connect_peer_request(1, DISCRIMINATOR, PATIENT_US)
        await refused(vi.connect_peer_wait(), Result.TIMEOUT)

    agents.machine.finish(run())
    assert_doubling(agents.waits_ps(Type.PEER))


def test_accept_and_disconnect_are_retransmitted_at_doubling_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agents = Agents(monkeypatch, 1)
    here, there = agents.users
    agents.silence(0, first=1)  # only the REQUEST arrives

    async def serve() -> None:
        vi = await there.nic.create_vi(there.tag)
        request = await there.nic.connect_wait(DISCRIMINATOR, PATIENT_US)
        await refused(there.nic.connect_accept(request, vi), Result.TIMEOUT)
        await agents.machine.host(1).sleep(AFTER_PS, "all notices")

    async def ask() -> None:
        vi = await here.nic.create_vi(here.tag)
        await vi.connect_request(1, DISCRIMINATOR, PATIENT_US)

    agents.machine.finish(serve(), ask())
    for kind, count in ((Type.ACCEPT, TRIES), (Type.DISCONNECT, TRIES + 1)):
        assert len(agents.sent[kind]) == count
        assert_doubling(agents.waits_ps(kind))
