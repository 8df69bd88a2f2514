"""Calls of VIA that wait for a peer, in a process that signals interrupt.

Strategy: a process waits for a connection while the kernel sends it signals repeatedly. Each signal runs its handler.
None may end the call, count as a time-out, or cause an early retransmission.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from firmware.via.host import Result, VipError
from firmware.via.nic.layout import State
from pymodels.host import Sig
from pymodels.machine import Machine
from tb.studies.via._via import User, user
from tests.unit.via.via_bench import start

DISCRIMINATOR, PATIENT_US = 3, 100_000
EVERY_PS, LATE_PS = 50_000_000, 3_000_000_000


class Interrupted:
    """Two users with a VI each; the process of the second one gets signals all the time."""

    def __init__(self) -> None:
        self.machine = Machine(2)
        vias = start(self.machine)
        self.here: User
        self.there: User
        self.here, self.there = self.machine.finish(*(user(via) for via in vias))
        self.mine, self.yours = self.machine.finish(*(side.nic.create_vi(side.tag) for side in (self.here, self.there)))
        self.handled = 0
        self.there.process.on_signal(Sig.USR1, self._handler)
        self.machine.host(1).spawn(self._signals(), "signals")

    async def _handler(self, sig: Sig) -> None:
        self.handled += 1

    async def _signals(self) -> None:
        host = self.machine.host(1)
        for _ in range(2 * LATE_PS // EVERY_PS):
            await host.sleep(EVERY_PS, "the next signal")
            host.signal(self.there.process.number, Sig.USR1)

    async def late(self, call: Awaitable[Any]) -> Any:
        """Make a call of the first host's process after many signals."""
        await self.machine.host(0).sleep(LATE_PS, "signals")
        return await call

    def finish(self, *calls: Awaitable[Any]) -> list[Any]:
        """Run calls; those of the second host as threads of its process."""
        return self.machine.finish(*calls)  # type: ignore[arg-type]

    def within(self, call: Any) -> Awaitable[Any]:
        """Run a call as a thread of the second host's process."""
        return self.there.process.spawn(call, "waits").finished


async def refused(call: Awaitable[Any]) -> Result:
    with pytest.raises(VipError) as error:
        await call
    return error.value.result


def test_a_wait_for_a_request_is_not_ended_by_signals() -> None:
    pair = Interrupted()

    async def serve() -> None:
        asked = await pair.there.nic.connect_wait(DISCRIMINATOR, PATIENT_US)
        await pair.there.nic.connect_accept(asked, pair.yours)

    async def run() -> None:
        server = pair.within(serve())
        await pair.late(pair.mine.connect_request(1, DISCRIMINATOR, PATIENT_US))
        await server

    pair.finish(run())
    assert pair.handled > 10 and pair.mine.state is pair.yours.state is State.CONNECTED


def test_the_time_limit_of_a_wait_is_not_shortened_by_signals() -> None:
    pair = Interrupted()

    async def run() -> int:
        begun = pair.machine.kernel.now
        assert await pair.within(refused(pair.there.nic.connect_wait(DISCRIMINATOR, LATE_PS / 1e6))) is Result.TIMEOUT
        return pair.machine.kernel.now - begun

    (took,) = pair.finish(run())
    assert pair.handled > 10 and LATE_PS <= took < LATE_PS + EVERY_PS


def test_a_wait_for_a_peer_is_not_ended_by_signals() -> None:
    pair = Interrupted()

    async def meet() -> None:
        await pair.yours.connect_peer_request(0, DISCRIMINATOR, PATIENT_US)
        await pair.yours.connect_peer_wait()

    async def other() -> None:
        await pair.mine.connect_peer_request(1, DISCRIMINATOR, PATIENT_US)
        await pair.mine.connect_peer_wait()

    async def run() -> None:
        waits = pair.within(meet())
        await pair.late(other())
        await waits

    pair.finish(run())
    assert pair.handled > 10 and pair.mine.state is pair.yours.state is State.CONNECTED


def test_a_wait_for_a_confirmation_is_not_shortened_by_signals() -> None:
    """Lose the client's confirmations during more signals than there are tries."""
    pair = Interrupted()
    for number in range(1, 5):
        pair.machine.faults.drop(0, 1, number)

    async def serve() -> None:
        asked = await pair.there.nic.connect_wait(DISCRIMINATOR, PATIENT_US)
        await pair.there.nic.connect_accept(asked, pair.yours)

    async def run() -> None:
        server = pair.within(serve())
        await pair.mine.connect_request(1, DISCRIMINATOR, PATIENT_US)
        await server

    pair.finish(run())
    assert pair.handled > 10 and pair.mine.state is pair.yours.state is State.CONNECTED
