"""Server that gives up a client without confirmation: both sides are notified.

Strategy: the confirmations of a client are lost until the server has given up, or the server's replies are, or one of
them arrives afterwards. The server's call must fail. The client is notified by its call if it still waits, and by its
error handler if it was connected. Both VIs must be free for another connection.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.host.kernel_agent.messages.repeats import TRIES
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User, join, user
from tests.unit.via.via_bench import message, start

DISCRIMINATOR, PATIENT_US, AFTER_US = 3, 200_000, 2000


class Attempt:
    """Client on host 0 and server on host 1 whose attempt fails."""

    def __init__(self, level: Reliability = Reliability.UNRELIABLE) -> None:
        self.machine = Machine(2)
        vias = start(self.machine)
        self.here: User
        self.there: User
        self.here, self.there = self.machine.finish(*(user(via) for via in vias))
        self.mine: Vi
        self.yours: Vi
        self.mine, self.yours = self.machine.finish(
            *(side.nic.create_vi(side.tag, reliability=level) for side in (self.here, self.there))
        )
        self.broken = 0
        self.mine.on_error(self._broke)

    def _broke(self) -> None:
        self.broken += 1

    def lose(self, source: int, first: int, count: int = TRIES) -> None:
        """Lose packets of a node, counted from the first of the attempt."""
        for number in range(first, first + count):
            self.machine.faults.drop(source, 1 - source, number)

    async def serve(self) -> None:
        """Accept, and check that the server gives up."""
        asked = await self.there.nic.connect_wait(DISCRIMINATOR, PATIENT_US)
        with pytest.raises(VipError) as refused:
            await self.there.nic.connect_accept(asked, self.yours)
        assert refused.value.result is Result.TIMEOUT
        assert self.yours.state is State.CLOSED
        await self.machine.host(1).sleep(AFTER_US * 1_000_000)

    async def ask(self) -> None:
        """Request the connection as a client."""
        await self.mine.connect_request(1, DISCRIMINATOR, PATIENT_US)

    async def again(self) -> None:
        """Make another attempt, which succeeds."""
        await join(self.here, self.mine, self.there, self.yours, 1)
        await message(self.here, self.mine, self.there, self.yours)


@pytest.mark.parametrize("level", list(Reliability))
def test_a_connected_client_loses_its_connection_when_the_server_gives_up(level: Reliability) -> None:
    attempt = Attempt(level)
    attempt.lose(0, 1)
    here = attempt.here

    async def ask() -> Status:
        await attempt.ask()
        await attempt.mine.post_receive(here.descriptor(0).receive([here.part(0, 100)]))
        return (await attempt.mine.receive_wait(PATIENT_US)).status

    _, status = attempt.machine.finish(attempt.serve(), ask())
    assert status == Status.DONE | Status.RECEIVE | Status.FLUSHED
    assert attempt.mine.state is State.ERROR and attempt.broken == 1
    attempt.machine.finish(attempt.mine.disconnect())
    attempt.machine.finish(attempt.again())


async def _rejected(attempt: Attempt) -> float:
    """Check that the client is rejected, and return the time, in us."""
    with pytest.raises(VipError) as refused:
        await attempt.ask()
    assert refused.value.result is Result.REJECT
    return attempt.machine.kernel.now / 1e6


def test_a_waiting_client_is_rejected_when_the_server_gives_up() -> None:
    attempt = Attempt()
    attempt.lose(1, 0)
    _, told_us = attempt.machine.finish(attempt.serve(), _rejected(attempt))
    assert told_us < PATIENT_US / 2 and attempt.broken == 0
    attempt.machine.finish(attempt.again())


def test_a_late_accept_connects_no_client() -> None:
    attempt = Attempt()
    attempt.machine.faults.reorder(1, 0, 0, 50_000_000_000)
    attempt.lose(1, 1, TRIES - 1)
    attempt.machine.finish(attempt.serve(), _rejected(attempt))
    attempt.machine.run(attempt.machine.kernel.now / 1e6 + 100_000)
    assert attempt.mine.state is attempt.yours.state is State.CLOSED
    attempt.machine.finish(attempt.again())
