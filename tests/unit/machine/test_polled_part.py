"""Polling loops restricted to their first steps.

Strategy: words of later steps change and are not noticed. When the loop is extended they are, and a turn takes the time
of the active steps.
"""

from __future__ import annotations

from firmware.verbs import Watch
from pymodels.machine import Machine
from pymodels.machine.spin import Spin
from tests.unit.via.via_bench import pair

COST = 100_000
"""Cost of every path of the machine, in ps."""


def test_a_loop_polls_only_its_first_steps_until_extended() -> None:
    machine = Machine(1)
    nic = machine.nic(0)
    loop = nic.poll_loop([Watch(4 * step, 0, "look") for step in range(10)])
    loop.first(2)
    seen: list[tuple[int, int]] = []

    async def program() -> None:
        for count in (2, 10):
            loop.first(count)
            seen.append((await loop.run(0), nic.now))
            loop.expect(1, 1)

    nic.store(20, 1)  # step 5
    task = nic.spawn(program(), "program")
    machine.run(until_us=5)
    assert not seen, "step 5 is not polled"
    nic.store(4, 1)
    machine.finish(task)
    assert [hit for hit, _ in seen] == [1, 5]
    assert seen[1][1] - seen[0][1] == 6 * COST


def test_polled_doorbells_are_those_of_vis_that_a_process_has() -> None:
    p = pair(preset="bvia1")
    machine, steps = p.machine, list[int]()
    (spin,) = machine.nic(0).sram.spins
    assert isinstance(spin, Spin)
    steps.append(len(spin._looks))
    more = machine.finish(p.here.nic.create_vi(p.here.tag), p.here.nic.create_vi(p.here.tag))
    steps.append(len(spin._looks))
    machine.finish(more[1].destroy())
    steps.append(len(spin._looks))
    assert [count - steps[0] for count in steps] == [0, 2, 1]
