"""Wake-up of a thread that falls asleep at any moment of a message's arrival.

Strategy: a thread goes to sleep at moments a few hundred nanoseconds apart: before the NIC writes the status, while the
status is in flight to host memory, and after it has arrived. The thread must wake each time; a hang ends the test with
a report of waits.
"""

from __future__ import annotations

from tests.unit.via.via_bench import pair

STEP_PS, STEPS = 150_000, 80
"""Step in ps. All steps together take longer than a message from its packet's arrival to its status."""


def test_a_thread_is_woken_whenever_it_goes_to_sleep() -> None:
    p = pair()

    async def send() -> None:
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 16)]))
        await p.mine.poll_send()

    async def sleep(late: int) -> None:
        await p.there.nic.host.sleep(late)
        await p.yours.receive_wait()

    async def expect() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 16)]))

    for step in range(STEPS):
        p.machine.finish(expect())
        p.machine.finish(send(), sleep(step * STEP_PS), within_us=10_000)
