"""Strategy: a thread goes to sleep for a message at every moment of the message's last steps, a few hundred nanoseconds
apart: before the NIC writes the status, while the status is on its way to host memory, and after it is there. Whoever
sleeps must be woken each time; a hang ends the test with who waits for what.
"""

from __future__ import annotations

from tests.unit.via.via_bench import pair

STEP_PS, STEPS = 150_000, 80
"""Together longer than a message takes from its packet's arrival to its status."""


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
