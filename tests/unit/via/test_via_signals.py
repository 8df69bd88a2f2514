"""Signals at the completion of receives.

Strategy: messages arrive one by one and in bursts, before the process requests signals, while it computes and while it
sleeps. Its handler takes back all complete descriptors. Each message is taken once, in order, and the CPU computes
meanwhile. After the process has cancelled the signals or destroyed the VI, there are no signals and no interrupts at
completions.
"""

from __future__ import annotations

import pytest

from firmware.via.host import VipError
from pymodels.host import Sig
from tb.studies.via._via import connect, user
from tests.unit.via.via_bench import Pair, pair

COUNT, SIZE = 12, 64


class Taking:
    """Far process of a connection, with the messages that its handler took."""

    def __init__(self, p: Pair) -> None:
        self.p, self.taken, self.handled = p, list[int](), 0
        p.there.process.on_signal(Sig.IO, self._handler)

    async def _handler(self, sig: Sig) -> None:
        self.handled += 1
        while (done := await self.p.yours.receive_done()) is not None:
            self.taken.append(self.p.there.read(64 * len(self.taken), 1)[0])
            assert done.length == SIZE

    async def post(self) -> None:
        for number in range(COUNT):
            part = self.p.there.part(64 * number, SIZE)
            await self.p.yours.post_receive(self.p.there.descriptor(number).receive([part]))

    async def asleep(self) -> None:
        """Sleep between signals until all messages are taken."""
        while len(self.taken) < COUNT:
            await self.p.there.process.suspend()


async def send(p: Pair, apart_us: float) -> None:
    """Send all messages; the first byte of each is its number."""
    for number in range(COUNT):
        await p.machine.host(0).sleep(int(apart_us * 1e6))
        p.here.write(64 * number, bytes([number]) * SIZE)
        await p.mine.post_send(p.here.descriptor(number).send([p.here.part(64 * number, SIZE)]))
        await p.mine.poll_send()


@pytest.mark.parametrize("apart_us", [0, 7, 200])
def test_the_handler_of_a_sleeping_process_takes_every_message_once(apart_us: float) -> None:
    p = pair()
    taking = Taking(p)
    p.machine.finish(taking.post())
    p.machine.finish(p.yours.receive_signal(Sig.IO))
    p.machine.finish(taking.asleep(), send(p, apart_us))
    assert taking.taken == list(range(COUNT))
    assert apart_us < 200 or taking.handled == COUNT


def test_the_handler_prolongs_the_computation_that_it_interrupts() -> None:
    p = pair()
    taking, computing = Taking(p), 5_000_000
    p.machine.finish(taking.post())
    p.machine.finish(p.yours.receive_signal(Sig.IO))
    begun, used = p.machine.kernel.now, p.there.nic.host.cpu_ps
    p.machine.finish(p.there.process.compute(computing), send(p, 100))
    assert taking.taken == list(range(COUNT))
    assert p.machine.kernel.now - begun == p.there.nic.host.cpu_ps - used > 1000 * computing


def test_messages_before_the_request_are_signalled_at_once() -> None:
    p = pair()
    taking = Taking(p)
    p.machine.finish(taking.post())
    p.machine.finish(send(p, 0))
    p.machine.run(p.machine.kernel.now / 1e6 + 200)
    assert taking.handled == 0
    p.machine.finish(p.yours.receive_signal(Sig.IO))
    p.machine.finish(p.there.process.compute(1))
    assert (taking.handled, taking.taken) == (1, list(range(COUNT)))


def test_cancelled_signals_cause_no_signals_and_no_interrupts() -> None:
    p = pair()
    taking = Taking(p)
    p.machine.finish(taking.post())
    p.machine.finish(p.yours.receive_signal(Sig.IO))
    p.machine.finish(p.yours.receive_signal(None))
    interrupts = p.there.nic.agent.interrupts
    before = interrupts.count
    p.machine.finish(send(p, 0))
    p.machine.run(p.machine.kernel.now / 1e6 + 200)
    assert (taking.handled, interrupts.count) == (0, before)


def test_signals_of_a_destroyed_vi_do_not_occur_for_the_next_vi() -> None:
    p = pair()
    taking = Taking(p)

    async def again() -> Pair:
        await p.yours.receive_signal(Sig.IO)
        await p.yours.disconnect()
        await p.yours.destroy()
        with pytest.raises(VipError):
            await p.yours.receive_signal(Sig.IO)
        other = await user(p.vias[1])
        mine, yours = await connect(p.here, other, 1)
        assert yours.number == p.yours.number
        return Pair(p.machine, p.vias, p.here, other, mine, yours)

    (q,) = p.machine.finish(again())
    p.machine.finish(Taking(q).post())
    p.machine.finish(send(q, 0), p.there.process.compute(500_000))
    assert taking.handled == 0
